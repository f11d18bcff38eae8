#pragma once
// What all commands share: common options, help, exit codes, where output goes.

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "modewise/report/table.h"
#include "modewise/tasks/result.h"

namespace modewise::cli {

class Program {
 public:
  Program(int argc, char** argv);

  /// A command `name` below `parent` with the common options. `example` opens its help; `action` runs after
  /// parsing and returns the exit code.
  CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& summary,
                        const std::string& example, std::function<int()> action);
  /// More text at the end of a command's --help (not of -h).
  void add_help_text(const CLI::App* command, std::function<std::string()> text);
  CLI::App& app() { return app_; }

  /// Parses, runs the chosen command, turns whatever goes wrong into one sentence on stderr and an exit code.
  int run();

  bool json() const { return json_; }
  const std::vector<std::string>& command_line() const { return command_line_; }
  int threads() const;
  /// What --threads says, 0 when it was not given.
  int asked_threads() const { return threads_; }
  /// Results, on stdout: one JSON document, or text.
  void print(const nlohmann::ordered_json& result) const;
  void print(const std::string& text) const;
  void print(const report::Table& table) const;
  void print(const tasks::Result& result) const;

 private:
  class Help;
  int parse_and_run();
  int usage_error(const CLI::ParseError& error) const;
  bool stdout_color() const;

  std::vector<std::string> command_line_;
  CLI::App app_;
  std::shared_ptr<Help> help_;
  std::function<int()> action_;
  bool json_ = false, quiet_ = false, debug_ = false, version_ = false;
  int verbose_ = 0, threads_ = 0;
  std::string color_ = "auto";
};

}  // namespace modewise::cli
