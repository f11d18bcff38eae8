#include <fmt/format.h>

#include <utility>

#include "cli/commands.h"
#include "modewise/core/build_info.h"
#include "modewise/core/error.h"

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

bool is_help(const CLI::Option& option) {
  return option.check_name("-h") || option.check_name("--help");
}

/// "[data] [OPTIONS]": what follows a command.
std::string synopsis(const CLI::App& command) {
  std::string text;
  if (!command.get_subcommands([](const CLI::App*) { return true; }).empty()) text += " COMMAND";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const bool many = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    const std::string name = fmt::format("\\fI{}\\fR{}", roff(option->get_name(true)), many ? "..." : "");
    const std::string flag = option->nonpositional() ? option->get_name(false, true) : "";
    const bool required = option->get_required() && flag.empty();
    text += required ? " " + name : fmt::format(" [{}]", name);
  }
  return text + " [OPTIONS]";
}

/// Paragraph of an option: its names with the type of its value, and its description.
std::string paragraph(const CLI::Option& option) {
  const std::string name = option.nonpositional() ? option.get_name(false, true) : option.get_name(true);
  const std::string type = option.get_type_size() == 0 ? "" : option.get_type_name();
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name),
                     type.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(type)),
                     roff(option.get_description()));
}

void add_command(const CLI::App& command, const std::string& path, std::string& page) {
  page += fmt::format(".SS {}\n{}\n.PP\n\\fBmodewise {}\\fR{}\n", roff(path), roff(command.get_description()),
                      roff(path), synopsis(command));
  for (const CLI::Option* option : command.get_options())
    if (option->get_group() == "Options" && !is_help(*option)) page += paragraph(*option);
  for (const CLI::App* next : command.get_subcommands([](const CLI::App*) { return true; }))
    add_command(*next, path + " " + next->get_name(), page);
}

/// Terms with their explanations, as paragraphs.
template <size_t N>
std::string paragraphs(const std::pair<const char*, const char*> (&rows)[N]) {
  std::string text;
  for (const auto& [term, meaning] : rows) text += fmt::format(".TP\n.B {}\n{}\n", roff(term), roff(meaning));
  return text;
}

constexpr std::pair<const char*, const char*> kExitStatus[] = {
    {"0", "success"},
    {"1", "training diverged, or out of memory"},
    {"2", "wrong usage"},
    {"65", "invalid input content"},
    {"66", "the input does not exist or cannot be read, or a run has not finished"},
    {"70", "internal error; --debug shows where"},
    {"73", "the output exists already, or cannot be created"},
    {"74", "a read or write failed"},
    {"78", "a config file is wrong, or does not match the run that is resumed"},
    {"129, 130, 143", "stopped by SIGHUP, SIGINT or SIGTERM, after a checkpoint was saved"},
};

constexpr std::pair<const char*, const char*> kEnvironment[] = {
    {"MODEWISE_DEVICE", "device of models, if neither --device nor train.device is given"},
    {"MODEWISE_ISA", "instruction set of the kernels, such as avx2; modewise info lists the names"},
    {"MODEWISE_TRITON", "0: no Triton kernels"},
    {"OMP_NUM_THREADS", "threads, at most the cores, if --threads is not given"},
    {"NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM", "color of the output; --color overrides them"},
    {"TMPDIR", "folder of temporary files"},
    {"TZDIR", "folder of the time zone data"},
};

constexpr std::pair<const char*, const char*> kFiles[] = {
    {"RUN/config.toml", "all settings of a run"},
    {"RUN/data.json", "variables, scales and dates of the training data"},
    {"RUN/metrics.json", "results"},
    {"RUN/checkpoints/", "weights; the file latest names the folder of the newest"},
    {"RUN/report.html", "figures and tables"},
};

void print_manual(const Program& program, const ManualOptions&) {
  require(!program.json(), ErrorKind::usage, "--json has no effect: manual prints a page in roff");
  const CLI::App& app = program.app();
  std::string page = fmt::format(".TH MODEWISE 1 \"\" \"modewise {}\"\n.SH NAME\nmodewise \\- {}\n",
                                 build_info().version, roff(app.get_description()));
  page += ".SH SYNOPSIS\n\\fBmodewise\\fR COMMAND [OPTIONS]\n.SH COMMANDS\n";
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    add_command(*command, command->get_name(), page);
  page += ".SH COMMON OPTIONS\n";
  for (const CLI::Option* option : app.get_subcommand("predict")->get_options())
    if (option->get_group() == kCommonGroup || is_help(*option)) page += paragraph(*option);
  page += ".SH EXIT STATUS\n" + paragraphs(kExitStatus) + ".SH ENVIRONMENT\n" + paragraphs(kEnvironment) +
          ".SH FILES\n" + paragraphs(kFiles);
  page += ".SH SEE ALSO\n.B modewise COMMAND \\-\\-help\nlists the keys of \\-\\-config and \\-\\-set.\n";
  program.print(page);
}

struct HelpOptions {
  std::vector<std::string> command;
};

}  // namespace

void add_manual(Program& program) {
  program.add_command<ManualOptions>(program.app(), "manual",
                                     "Prints the manual page in roff: modewise manual | man -l -",
                                     "modewise manual > modewise.1", print_manual);
  const auto [command, options] = program.add_command<HelpOptions>(
      program.app(), "help", "Prints the full help of a command, as COMMAND --help.",
      "modewise help train forecast",
      [](const Program& run_by, const HelpOptions&) { run_by.print(run_by.app().help()); });
  command->add_option("command", options.command, "a command");
}

}  // namespace modewise::cli
