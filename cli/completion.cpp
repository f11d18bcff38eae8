#include <fmt/ranges.h>

#include "cli/commands.h"
#include "modewise/core/error.h"

namespace modewise::cli {
namespace {

struct CompletionOptions {
  std::string shell;
};

/// A command with the words that may follow it.
struct Completed {
  std::string path;  // "train forecast"
  std::vector<std::string> words;
};

void add_commands(const CLI::App& command, const std::string& path, std::vector<Completed>& to) {
  Completed one{path, {}};
  const auto commands = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* next : commands) one.words.push_back(next->get_name());
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) one.words.push_back("--" + name);
  to.push_back(std::move(one));
  for (const CLI::App* next : commands)
    add_commands(*next, path.empty() ? next->get_name() : path + " " + next->get_name(), to);
}

std::string bash_script(const std::vector<Completed>& commands) {
  std::string cases;
  for (const Completed& command : commands)
    cases += fmt::format("    '{}') words='{}' ;;\n", command.path, fmt::join(command.words, " "));
  return R"sh(# Completion of modewise for bash: eval "$(modewise completion bash)"
_modewise() {
  local current=${COMP_WORDS[COMP_CWORD]} path= words= i
  for ((i = 1; i < COMP_CWORD && i < 3; ++i)); do
    [[ ${COMP_WORDS[i]} == -* ]] && break
    path+=${path:+ }${COMP_WORDS[i]}
  done
  _modewise_words "$path"
  [[ -z $words && $path == *' '* ]] && _modewise_words "${path%% *}"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}
_modewise_words() {
  case $1 in
)sh" + cases +
         R"sh(  esac
}
complete -o filenames -F _modewise modewise
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
  }
  return text;
}

void complete(const Program& program, const CompletionOptions& options) {
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
