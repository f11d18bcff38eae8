#include <fmt/ranges.h>

#include <map>

#include "cli/commands.h"
#include "modewise/core/error.h"

namespace modewise::cli {
namespace {

struct CompletionOptions {
  std::string shell;
};

/// A command with the words that may follow it.
struct Completed {
  std::string path;                // "train forecast"
  std::vector<std::string> words;  // commands and values of arguments, then options
  std::vector<std::pair<std::string, std::vector<std::string>>> values;  // of an option "--color"
};

/// The values that an option may have, from its type "TEXT:{auto,always,never}"; none if they are open.
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

void add_option(const CLI::Option& option, Completed& to) {
  const std::vector<std::string> values = values_of(option);
  for (const std::string& name : option.get_lnames()) {
    to.words.push_back("--" + name);
    if (!values.empty()) to.values.emplace_back("--" + name, values);
  }
  if (option.get_positional()) to.words.insert(to.words.begin(), values.begin(), values.end());
}

/// The options of a command, and of a command that may be left out, as in "train FILE", those of all it has.
void add_options(const CLI::App& command, const std::vector<const CLI::App*>& commands, Completed& to) {
  std::map<std::string, const CLI::Option*> options;
  if (command.get_name() == "train")
    for (const CLI::App* next : commands)
      for (const CLI::Option* option : next->get_options()) options.try_emplace(option->get_name(), option);
  for (const CLI::Option* option : command.get_options())
    if (!options.contains(option->get_name())) add_option(*option, to);
  for (const auto& [name, option] : options) add_option(*option, to);
}

void add_commands(const CLI::App& command, const std::string& path, std::vector<Completed>& to) {
  Completed one{path, {}, {}};
  const auto commands = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* next : commands) one.words.push_back(next->get_name());
  add_options(command, commands, one);
  to.push_back(std::move(one));
  for (const CLI::App* next : commands)
    add_commands(*next, path.empty() ? next->get_name() : path + " " + next->get_name(), to);
}

/// `case` lines that set `words`: those of each path, and those of the options of each path.
std::string bash_cases(const std::vector<Completed>& commands) {
  std::string cases;
  for (const Completed& command : commands) {
    cases += fmt::format("    '{}') words='{}' ;;\n", command.path, fmt::join(command.words, " "));
    for (const auto& [option, values] : command.values)
      cases += fmt::format("    '{} {}') words='{}' ;;\n", command.path, option, fmt::join(values, " "));
  }
  return cases;
}

/// Also run by zsh, which has neither mapfile nor compopt.
std::string bash_script(const std::vector<Completed>& commands) {
  return R"sh(# Completion of modewise for bash: eval "$(modewise completion bash)"
_modewise() {
  local current=${COMP_WORDS[COMP_CWORD]} before=$((COMP_CWORD - 1)) path= words= i
  [[ $current == = ]] && current= before=$COMP_CWORD
  [[ ${COMP_WORDS[before]} == = ]] && ((before--))
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ $i == 1 && ${COMP_WORDS[i]} == help ]] && continue
    _modewise_words "${path:+$path }${COMP_WORDS[i]}"
    [[ -z $words || ${COMP_WORDS[i]} == -* ]] && break
    path+=${path:+ }${COMP_WORDS[i]}
  done
  _modewise_words "$path ${COMP_WORDS[before]}"
  if [[ ${COMP_WORDS[before]} == -* && -n $words ]]; then
    _modewise_offer "$(compgen -W "$words" -- "$current")"
    return
  fi
  _modewise_words "$path"
  [[ $current == -* ]] || { words=" $words"; words=${words%% --*}; }
  _modewise_offer "$(compgen -W "$words" -- "$current")"
  [[ ${#COMPREPLY[@]} == 0 && $current != -* && $COMP_CWORD -gt 1 ]] || return 0
  _modewise_offer "$(compgen -f -- "$current")"
  compopt -o filenames 2>/dev/null
  return 0
}
_modewise_offer() {
  local line
  while IFS= read -r line; do
    [[ -n $line ]] && COMPREPLY+=("$line")
  done <<< "$1"
}
_modewise_words() {
  words=
  case $1 in
)sh" + bash_cases(commands) +
         R"sh(  esac
}
complete -F _modewise modewise
)sh";
}

/// zsh runs the script for bash.
std::string zsh_script(const std::vector<Completed>& commands) {
  return "#compdef modewise\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(commands);
}

std::string fish_script(const std::vector<Completed>& commands) {
  std::string text = "# Completion of modewise for fish: modewise completion fish | source\n";
  for (const Completed& command : commands) {
    const size_t space = command.path.rfind(' ');
    const std::string last = space == std::string::npos ? command.path : command.path.substr(space + 1);
    const std::string condition = command.path.empty()         ? "__fish_use_subcommand"
                                  : space == std::string::npos ? "__fish_seen_subcommand_from " + last
                                                               : fmt::format(
                                                                     "__fish_seen_subcommand_from {}; and "
                                                                     "__fish_seen_subcommand_from {}",
                                                                     command.path.substr(0, space), last);
    for (const std::string& word : command.words)
      text += word.starts_with("--")
                  ? fmt::format("complete -c modewise -n '{}' -l {}\n", condition, word.substr(2))
                  : fmt::format("complete -c modewise -n '{}' -a {}\n", condition, word);
    for (const auto& [option, values] : command.values)
      text += fmt::format("complete -c modewise -n '{}' -l {} -x -a '{}'\n", condition, option.substr(2),
                          fmt::join(values, " "));
  }
  return text;
}

void complete(const Program& program, const CompletionOptions& options) {
  require(!program.json(), ErrorKind::usage, "--json has no effect: completion prints a script");
  std::vector<Completed> commands;
  add_commands(program.app(), "", commands);
  program.print(options.shell == "bash"  ? bash_script(commands)
                : options.shell == "zsh" ? zsh_script(commands)
                                         : fish_script(commands));
}

}  // namespace

void add_completion(Program& program) {
  const auto [command, options] = program.add_command<CompletionOptions>(
      program.app(), "completion", "Prints a script that completes commands and options in a shell.",
      "eval \"$(modewise completion bash)\"", complete);
  command->add_option("shell", options.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

}  // namespace modewise::cli
