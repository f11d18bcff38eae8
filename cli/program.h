#pragma once
// The program: common options, help, exit codes and output of all commands.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/report/table.h"
#include "modewise/tasks/run/result.h"
#include "modewise/tasks/run/run.h"

namespace modewise::cli {

class Program {
 public:
  Program(int argc, char** argv);

  template <class Options>
  struct Command {
    CLI::App* app;
    Options& options;
  };
  /// Adds a command `name` to `parent`, with the common options and the Options that it fills. Its help
  /// begins with `example`; after parsing action(program, options) runs.
  template <class Options, class Action>
  Command<Options> add_command(CLI::App& parent, const std::string& name, const std::string& summary,
                               const std::string& example, Action action) {
    const auto options = std::make_shared<Options>();
    return {add_bare_command(parent, name, summary, example,
                             [this, options, action] { action(std::as_const(*this), *options); }),
            *options};
  }
  /// Makes the run whose settings the command's help lists (--help, not -h) and its hints name.
  using MakeRun = std::function<std::unique_ptr<tasks::Run>()>;
  void add_settings(const CLI::App* command, MakeRun make_run);
  CLI::App& app() { return app_; }
  const CLI::App& app() const { return app_; }

  /// Parses the command line and runs the command; errors become one sentence on stderr and an exit code.
  int run();

  bool json() const { return json_; }
  const std::vector<std::string>& command_line() const { return command_line_; }
  int threads() const;
  /// Value of --threads; 0: not given.
  int asked_threads() const { return threads_; }
  /// Value of --device; "": not given.
  const std::string& asked_device() const { return device_; }
  /// Prints results to stdout: one JSON document, or text with a line end. Text from users' files is escaped
  /// (core/escaped_text.h).
  void print(const nlohmann::ordered_json& result) const;
  void print(const std::string& text) const;
  void print(const report::Table& table) const;
  void print(const tasks::Result& result) const;
  /// Prints the document for --json, else the table as text, markdown or csv.
  void print(const nlohmann::ordered_json& result, const report::Table& table,
             const std::string& format = "text") const;

 private:
  class Help;
  CLI::App* add_bare_command(CLI::App& parent, const std::string& name, const std::string& summary,
                             const std::string& example, std::function<void()> action);
  int parse_and_run();
  void print_escaped(const std::string& text) const;
  /// Usage error if several processes run a command that needs a single one.
  void require_process() const;
  int usage_error(const CLI::ParseError& error) const;
  /// Prints the help of the chosen command; a usage error for an unknown command, and for --json.
  int print_help(CLI::AppFormatMode mode) const;
  /// Keys of the settings of `command`.
  std::vector<std::string> keys_of(const CLI::App& command) const;
  /// option_hint() of the settings of `command`.
  std::string setting_hint(const CLI::App& command, const std::string& option,
                           const std::vector<std::string>& options) const;
  bool stdout_color() const;

  std::vector<std::string> command_line_;
  CLI::App app_;
  std::shared_ptr<Help> help_;
  std::function<void()> action_;
  bool json_ = false, quiet_ = false, debug_ = false, version_ = false;
  int verbose_ = 0, threads_ = 0;
  std::string color_ = "auto", device_;
};

/// Writes and flushes bytes. Throws io errors.
void write_stdout(std::string_view bytes);
/// Writes and flushes text of any bytes, such as generated text: unchanged to files and pipes, escaped to a
/// terminal.
void write_text(std::string_view text);

/// Group of the options of all commands.
inline constexpr const char* kCommonGroup = "Common options";
/// Type name of options that accept any bytes; others require UTF-8.
inline constexpr const char* kAnyBytes = "BYTES";

/// Replacements of CLI11's PositiveNumber and NonNegativeNumber, whose messages print all digits of the
/// largest double.
CLI::Validator positive_number();
/// The command or the name of a task, or one of `others`.
CLI::Validator known_task(std::vector<std::string> others);
CLI::Validator non_negative_number();
template <class Value>
CLI::Option* add_positive(CLI::App& command, const std::string& flag, Value& value, const std::string& help) {
  return command.add_option(flag, value, help)->check(positive_number());
}

}  // namespace modewise::cli
