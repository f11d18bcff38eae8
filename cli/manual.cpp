#include <fmt/format.h>

#include "cli/commands.h"
#include "modewise/core/build_info.h"

namespace modewise::cli {
namespace {

struct ManualOptions {};

/// Text of a man page: backslashes, minus signs, and quotes or points at the start of a line are escaped.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

void add_command(const CLI::App& command, const std::string& path, std::string& page) {
  page += fmt::format(".SS {}\n{}\n", roff(path), roff(command.get_description()));
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() != "Options") continue;  // the common options have their own section
    page +=
        fmt::format(".TP\n.B {}\n{}\n", roff(option->get_name(false, true)), roff(option->get_description()));
  }
  for (const CLI::App* next : command.get_subcommands([](const CLI::App*) { return true; }))
    add_command(*next, path + " " + next->get_name(), page);
}

void print_manual(const Program& program, const ManualOptions&) {
  const CLI::App& app = program.app();
  std::string page = fmt::format(".TH MODEWISE 1 \"\" \"modewise {}\"\n.SH NAME\nmodewise \\- {}\n",
                                 build_info().version, roff(app.get_description()));
  page += ".SH SYNOPSIS\n.B modewise\nCOMMAND [OPTIONS]\n.SH COMMANDS\n";
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    add_command(*command, command->get_name(), page);
  page += ".SH COMMON OPTIONS\n";
  for (const CLI::Option* option : app.get_subcommand("predict")->get_options())
    if (option->get_group() == kCommonGroup)
      page += fmt::format(".TP\n.B {}\n{}\n", roff(option->get_name(false, true)),
                          roff(option->get_description()));
  page += ".SH SEE ALSO\n.B modewise COMMAND \\-\\-help\nlists the keys of \\-\\-config and \\-\\-set.\n";
  program.print(page);
}

}  // namespace

void add_manual(Program& program) {
  program.add_command<ManualOptions>(program.app(), "manual",
                                     "Prints the manual page in roff: modewise manual | man -l -",
                                     "modewise manual > modewise.1", print_manual);
}

}  // namespace modewise::cli
