#include "cli/implied_task.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>

#include "modewise/core/error.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/search_run.h"

namespace modewise::cli {
namespace {

/// Value of an option given as "--name value" or "--name=value".
std::optional<std::string> value_of(const std::vector<std::string>& command_line, const std::string& option) {
  for (size_t i = 0; i < command_line.size(); ++i) {
    if (command_line[i].starts_with(option + "=")) return command_line[i].substr(option.size() + 1);
    if (command_line[i] == option && i + 1 < command_line.size()) return command_line[i + 1];
  }
  return std::nullopt;
}

/// Options and settings of a command line: "--masks", and "data.masks" of "--set data.masks=m.tif".
std::vector<std::string> names_given(const std::vector<std::string>& command_line) {
  const std::string set = "--set=";
  std::vector<std::string> names;
  for (size_t i = 0; i < command_line.size(); ++i) {
    const bool apart = i > 0 && command_line[i - 1] == "--set";
    const std::string& word = command_line[i];
    const std::string given = !apart && word.starts_with(set) ? word.substr(set.size()) : word;
    if (apart || word.starts_with("--")) names.push_back(given.substr(0, given.find('=')));
  }
  return names;
}

bool is_task(const std::string& word) {
  const std::vector<std::string> commands = tasks::task_commands();
  return std::find(commands.begin(), commands.end(), word) != commands.end();
}

}  // namespace

bool looks_like_data(const std::string& word) {
  return !word.starts_with("-") && !is_task(word) &&
         (word.find_first_of("./") != std::string::npos || std::filesystem::exists(word));
}

std::vector<std::string> with_task(std::vector<std::string> command_line) {
  const auto asks = [&](const char* option) {
    return std::find(command_line.begin(), command_line.end(), option) != command_line.end();
  };
  if (command_line.size() >= 3 && command_line[1] == "train")
    for (const tasks::TaskSpec* kind : tasks::task_specs())
      if (command_line[2] == kind->name) command_line[2] = kind->command;
  const bool trains = command_line.size() >= 3 && command_line[1] == "train";
  const bool names_data = trains && looks_like_data(command_line[2]);
  const bool bare = trains && (command_line[2].starts_with("-") || names_data);
  if (!bare || asks("-h") || asks("--help")) return command_line;
  const std::optional<std::string> run = value_of(command_line, "--resume"),
                                   data = names_data ? command_line[2] : value_of(command_line, "--data");
  if (!run && !data) return command_line;
  if (!run && std::none_of(tasks::task_specs().begin(), tasks::task_specs().end(),
                           [&](const tasks::TaskSpec* kind) { return kind->owns && kind->owns(*data); }))
    require(std::filesystem::exists(*data), ErrorKind::no_input, "there is no file or folder {}", *data);
  const tasks::TaskSpec& kind =
      run ? tasks::task_to_resume(*run) : tasks::task_of_data(*data, names_given(command_line));
  if (!run && !asks("-q") && !asks("--quiet"))
    spdlog::info("{} is read as data of 'modewise train {}'", *data, kind.command);
  command_line.insert(command_line.begin() + 2, kind.command);
  return command_line;
}

}  // namespace modewise::cli
