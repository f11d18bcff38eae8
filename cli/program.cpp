#include "cli/program.h"

#include <ATen/Parallel.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <span>

#include "cli/first_guesses.h"
#include "cli/implied_task.h"
#include "modewise/core/aliases.h"
#include "modewise/core/build_info.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/log.h"
#include "modewise/core/nearest_name.h"
#include "modewise/core/output_file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/core/utf8.h"
#include "modewise/ops/kernel_info.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/failure.h"
#include "modewise/train/distributed/workers.h"
#include "modewise/train/loop/compute_device.h"
#include "modewise/train/loop/task.h"

namespace modewise::cli {
namespace {

/// Rejects integers beyond 64 bits, which CLI11 saturates.
void refuse_saturated_integers(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_type_name().find("INT") == std::string::npos) continue;
    for (const std::string& text : option->results()) {
      errno = 0;
      static_cast<void>(std::strtoll(text.c_str(), nullptr, 0));
      if (errno == ERANGE)
        throw CLI::ValidationError(option->get_name(), fmt::format("{} does not fit into 64 bits", text));
    }
  }
  for (const CLI::App* chosen : command.get_subcommands()) refuse_saturated_integers(*chosen);
}

/// Rejects invalid UTF-8: configs, manifests and results are written as UTF-8. Options of type BYTES accept
/// any bytes.
void refuse_other_bytes(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_type_name() == kAnyBytes) continue;
    for (const std::string& text : option->results())
      if (find_invalid_utf8(text) != std::string::npos)
        throw CLI::ValidationError(
            option->get_name(),
            fmt::format("{} is not UTF-8; use a link with another name", quote_for_message(text, 4096)));
  }
  for (const CLI::App* chosen : command.get_subcommands()) refuse_other_bytes(*chosen);
}

CLI::Validator number_from(double minimum, const char* wanted, const char* name) {
  const auto check = [minimum, wanted](const std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && value >= minimum && std::isfinite(value);
    return good ? std::string() : fmt::format("must be {}, got '{}'", wanted, text);
  };
  return {check, name};
}

/// The innermost command of the command line.
const CLI::App& chosen_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

/// "modewise train forecast".
std::string path_of(const CLI::App& command) {
  return command.get_parent() == nullptr ? "modewise"
                                         : path_of(*command.get_parent()) + " " + command.get_name();
}

/// The message of CLI11, with its terse ones as sentences.
std::string sentence_of(const CLI::ParseError& error, const CLI::App& command) {
  const std::string text = error.what();
  static const std::regex unconverted("Could not convert: (\\S+) = ([\\s\\S]*)"),
      repeated("(\\S+): At Most 1 required but received (\\d+)"),
      missing("(\\S+): \\d+ required [\\s\\S]* missing");
  std::smatch parts;
  if (std::regex_match(text, parts, unconverted)) {
    const CLI::Option* option = command.get_option_no_throw(parts[1].str());
    const bool whole = option != nullptr && option->get_type_name().find("INT") != std::string::npos;
    return fmt::format("{}: '{}' is not {}", parts[1].str(), parts[2].str(),
                       whole ? "an integer" : "a number");
  }
  if (std::regex_match(text, parts, repeated))
    return fmt::format("{} is given {} times, but takes one value", parts[1].str(), parts[2].str());
  if (std::regex_match(text, parts, missing)) return fmt::format("{} needs a value", parts[1].str());
  return text;
}

int complain(int code, const std::string& message) {
  const train::Workers& workers = train::workers();
  const std::string opening = workers.size() > 1
                                  ? fmt::format("error of process {} of {}: ", workers.rank(), workers.size())
                                  : "error: ";
  log_lines(LogLevel::error, opening + message);  // several lines with --debug
  return code;
}

}  // namespace

/// Help: example, summary, options; common options and settings only in --help.
class Program::Help : public CLI::Formatter {
 public:
  std::map<const CLI::App*, std::string> examples;
  std::map<const CLI::App*, MakeRun> settings;

  /// Options that set a key, "… (train.epochs)", with the default of the key.
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (!text.ends_with(')')) return text;
    const size_t begin = text.rfind('(') + 1;
    const auto value = defaults_.find(text.substr(begin, text.size() - begin - 1));
    if (value != defaults_.end() && value->second != "''" && value->second != "[]")
      text.insert(text.size() - 1, ", default " + value->second);
    return text;
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    const bool full = mode == CLI::AppFormatMode::All;
    const auto make_run = settings.find(app);
    const std::unique_ptr<tasks::Run> run = make_run == settings.end() ? nullptr : make_run->second();
    defaults_.clear();
    const Fields fields = run ? run->settings().fields : Fields();
    for (const Field& field : fields.list()) defaults_[field.path] = Fields::value_text(field);
    std::string text;
    if (const auto example = examples.find(app); example != examples.end())
      text += fmt::format("Example:\n  {}\n\n", example->second);
    text += app->get_description() + "\n";
    text += make_usage(app, std::move(name)) + make_positionals(app);
    for (const std::string& group : app->get_groups()) {
      if (!full && group == kCommonGroup) continue;
      const auto options = app->get_options(
          [&](const CLI::Option* option) { return option->get_group() == group && option->nonpositional(); });
      if (!group.empty() && !options.empty()) text += make_group(group, false, options);
    }
    text += make_subcommands(app, CLI::AppFormatMode::Normal);
    if (full && run) text += "\nKeys of --config and --set, with their defaults:\n\n" + fields.to_toml(true);
    if (!full) text += "\n--help shows all options.\n";
    return text;
  }

 private:
  mutable std::map<std::string, std::string> defaults_;  // key → default, of the command that is formatted
};

Program::Program(int argc, char** argv)
    : command_line_(argv, argv + argc),
      app_("Attention over the modes of tensors: trains, evaluates, predicts, explains.", "modewise"),
      help_(std::make_shared<Help>()) {
  app_.formatter(help_);
  app_.set_help_flag("-h", "short help");
  app_.set_help_all_flag("--help", "full help");
  help_->column_width(34);
  help_->examples[&app_] = "modewise train forecast ETTh1.csv";
  app_.require_subcommand(0, 1);
  app_.add_flag("--version", version_, "print the version; with --json also the build");
  app_.add_flag("--json", json_, "print JSON on stdout, nothing else");
}

CLI::App* Program::add_bare_command(CLI::App& parent, const std::string& name, const std::string& summary,
                                    const std::string& example, std::function<void()> action) {
  CLI::App* command = parent.add_subcommand(name, summary);
  help_->examples[command] = example;
  command->option_defaults()->group(kCommonGroup);
  command->add_flag("--json", json_, "print the result as JSON on stdout, nothing else");
  command->add_flag("-q,--quiet", quiet_, "print only errors to stderr");
  command->add_flag("-v,--verbose", verbose_, "print more to stderr; -vv for most");
  command->add_option("--color", color_, "color: auto, always or never (default auto)")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command
      ->add_option("--threads", threads_,
                   "number of threads; results on one CPU are bit-exact for any number")
      ->check(CLI::Range(1, 4096));
  command->add_option("--device", device_,
                      "device of models: auto (CUDA if torch has it), cpu, cuda or cuda:N (default auto)");
  command->add_flag("--debug", debug_, "show the backtrace of internal errors");
  command->option_defaults()->group("Options");
  command->final_callback([this, action = std::move(action)] { action_ = action; });
  return command;
}

void Program::add_settings(const CLI::App* command, MakeRun make_run) {
  help_->settings[command] = std::move(make_run);
}

int Program::threads() const {
  return at::get_num_threads();
}

int Program::print_help(CLI::AppFormatMode mode) const {
  const CLI::App& command = chosen_command(app_);
  const std::vector<std::string> rest = command.remaining();
  const bool has_commands = !command.get_subcommands([](const CLI::App*) { return true; }).empty();
  // "train FILE --help" is the help of train.
  if (has_commands && !rest.empty() && !rest.front().starts_with("-") &&
      !(command.get_name() == "train" && looks_like_data(rest.front())))
    return usage_error(CLI::ExtrasError(rest));
  require(std::ranges::find(command_line_, "--json") == command_line_.end(), ErrorKind::usage,
          "--json has no effect: the help is text");
  print(app_.help("", mode));
  return 0;
}

int Program::usage_error(const CLI::ParseError& error) const {
  const CLI::App* command = &chosen_command(app_);
  const std::string path = path_of(*command);
  std::string message = sentence_of(error, *command);
  const auto commands = command->get_subcommands([](const CLI::App*) { return true; });
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !commands.empty()) {
    std::vector<std::string> wanted;
    if (command->get_name() == "train") wanted.emplace_back("a data file or folder");
    for (const CLI::App* known : commands) wanted.push_back(known->get_name());
    const std::vector<std::string> got = command->remaining(true);
    message = fmt::format("expected one of {} after '{}', got {}", fmt::join(wanted, ", "), path,
                          got.empty() ? "nothing" : fmt::format("'{}'", got.front()));
    std::error_code ignored;
    if (command->get_name() == "data" && !got.empty() && std::filesystem::exists(got.front(), ignored))
      message += fmt::format("; {} show {} describes it", path, command_word(got.front()));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !command->remaining(true).empty()) {
    const std::string unknown = command->remaining(true).front();
    std::vector<std::string> names;
    const bool option = unknown.starts_with("-");
    if (option) {
      for (const CLI::Option* known : command->get_options())
        for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
    } else {
      for (const CLI::App* known : commands) names.push_back(known->get_name());
    }
    const std::string name = unknown.substr(0, unknown.find('='));
    std::string hint = nearest_name_hint(name, names);
    if (const std::string guess =
            option ? setting_hint(*command, name, names) : argument_hint(unknown, keys_of(*command));
        !guess.empty())
      hint = guess;
    message = fmt::format("unknown {} '{}'{}", option ? "option" : "argument", unknown, hint);
  } else if (command != &app_ && command_line_[1].starts_with("-")) {
    message = fmt::format("options follow the command: {} {} …", path, command_line_[1]);
  }
  return complain(2, fmt::format("{}; see {} -h", message, path));
}

std::string Program::setting_hint(const CLI::App& command, const std::string& option,
                                  const std::vector<std::string>& options) const {
  std::string value;
  for (size_t i = 1; i < command_line_.size(); ++i) {
    if (command_line_[i].starts_with(option + "=")) value = command_line_[i].substr(option.size() + 1);
    if (command_line_[i - 1] == option && !command_line_[i].starts_with("-")) value = command_line_[i];
  }
  return option_hint(option, value, options, keys_of(command));
}

std::vector<std::string> Program::keys_of(const CLI::App& command) const {
  const auto make_run = help_->settings.find(&command);
  std::vector<std::string> keys;
  if (make_run == help_->settings.end()) return keys;
  const std::unique_ptr<tasks::Run> run = make_run->second();
  const Fields fields = run->settings().fields;
  for (const Field& field : fields.list()) keys.push_back(field.path);
  return keys;
}

void Program::require_process() const {
  const std::array shared = {"train", "evaluate", "predict", "backtest"};
  const bool one_of_them =
      std::any_of(shared.begin(), shared.end(), [&](const char* name) { return app_.got_subcommand(name); });
  require(train::workers().size() == 1 || one_of_them, ErrorKind::usage,
          "torchrun is for the commands {}: run this command as a single process", fmt::join(shared, ", "));
}

int Program::parse_and_run() {
  command_line_ = with_task(with_help_option(current_command_line(std::move(command_line_))));
  try {
    app_.parse(static_cast<int>(command_line_.size()), [this] {
      static std::vector<const char*> arguments;
      arguments.clear();
      for (const std::string& argument : command_line_) arguments.push_back(argument.c_str());
      return arguments.data();
    }());
    refuse_saturated_integers(app_);
    refuse_other_bytes(app_);
  } catch (const CLI::CallForHelp&) {
    return print_help(CLI::AppFormatMode::Normal);
  } catch (const CLI::CallForAllHelp&) {
    return print_help(CLI::AppFormatMode::All);
  } catch (const CLI::ParseError& error) {
    set_up_logging(0, color_);
    return usage_error(error);
  }
  set_up_logging(quiet_ || !train::workers().is_rank_zero() ? -1 : verbose_, color_);
  if (version_) {
    const BuildInfo build = build_info();
    nlohmann::ordered_json result = to_json(build);
    result["torch"] = TORCH_VERSION;
    print(tasks::Result(result, fmt::format("modewise {} ({})", build.version, build.commit)));
    return 0;
  }
  if (!action_) {
    std::fputs(app_.help().c_str(), stderr);
    return 2;
  }
  require_process();
  if (std::getenv("MODEWISE_ISA") != nullptr)
    ops::active_isa();  // reports a wrong name before writing anything
  if (threads_ > 0) at::set_num_threads(threads_);
  if (!device_.empty()) train::ask_for_device(device_);
  train::chosen_device();  // reports a missing device before reading anything
  action_();
  return 0;
}

int Program::run() {
  set_up_logging(0);
  try {
    return parse_and_run();
  } catch (const train::EvaluationInterrupted&) {
    spdlog::info("stopped by signal {}", stop_signal());
    return 128 + stop_signal();
  } catch (...) {
    const tasks::Failure failure = tasks::current_failure(debug_);
    return failure.signal == 0 ? complain(failure.exit_code, failure.sentence) : failure.exit_code;
  }
}

CLI::Validator positive_number() {
  return number_from(std::numeric_limits<double>::min(), "a positive number", "POSITIVE");
}

CLI::Validator known_task(std::vector<std::string> others) {
  std::vector<std::string> commands = tasks::task_commands();
  others.insert(others.end(), commands.begin(), commands.end());
  std::string name = fmt::format("{{{}}}", fmt::join(others, ","));
  const auto check = [others](const std::string& text) {
    if (std::find(others.begin(), others.end(), text) == others.end()) tasks::task_named(text);
    return std::string();
  };
  return {check, name};
}

CLI::Validator non_negative_number() {
  return number_from(0, "a number that is not negative", "NONNEGATIVE");
}

void write_stdout(std::string_view bytes) {
  write_all(STDOUT_FILENO, std::as_bytes(std::span(bytes)), "to stdout");
}

void write_text(std::string_view text) {
  if (::isatty(STDOUT_FILENO) == 1)
    write_stdout(escape_text(text, LineBreaks::kept));
  else
    write_stdout(text);
}

void Program::print_escaped(const std::string& text) const {
  if (!train::workers().is_rank_zero()) return;
  write_stdout(text.ends_with('\n') ? text : text + "\n");
}

void Program::print(const std::string& text) const {
  print_escaped(escape_text(text, LineBreaks::kept));
}

void Program::print(const nlohmann::ordered_json& result) const {
  print(tasks::json_text(result));
}

void Program::print(const tasks::Result& result) const {
  if (json_)
    print(result.json);
  else if (!result.text.empty())
    print(result.text);
}

void Program::print(const report::Table& table) const {
  print_escaped(table.to_text(stdout_color()));
}

void Program::print(const nlohmann::ordered_json& result, const report::Table& table,
                    const std::string& format) const {
  if (json())
    print(result);
  else if (format == "markdown")
    print(table.to_markdown());
  else if (format == "csv")
    print(table.to_csv());
  else
    print(table);
}

bool Program::stdout_color() const {
  if (color_ != "auto") return color_ == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) == 1 && !(no_color != nullptr && *no_color != '\0');
}

}  // namespace modewise::cli
