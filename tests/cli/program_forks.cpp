// Starts the program `modewise` for the Python tests in milliseconds: loads its library, which takes a third
// of a second, once, and forks for each request. With arguments it is the program itself.
//
// A request is a line of JSON on stdin: {"arguments": ["modewise", ...], "environment": {...}, "folder": ...,
// "stdout": file, "stderr": file, "seconds": N}. The answer is a line with the exit code, or minus the
// signal.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program_library.h"

namespace {

void redirect(int number, const std::string& file, int flags) {
  const int opened = open(file.c_str(), flags);
  if (opened < 0 || dup2(opened, number) < 0 || close(opened) != 0) std::_Exit(EXIT_FAILURE);
}

std::vector<std::string> names_of_variables() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

/// Replaces the variables `given` to this process by those of the request. What the program has set when it
/// was loaded stays, such as the instruction set of libtorch.
void replace_variables(const std::vector<std::string>& given, const nlohmann::json& wanted) {
  for (const std::string& name : given) unsetenv(name.c_str());
  for (const auto& [name, value] : wanted.items()) setenv(name.c_str(), value.get<std::string>().c_str(), 1);
}

int run_request(const nlohmann::json& request, decltype(&modewise::cli::run_program) run) {
  alarm(request["seconds"]);
  if (chdir(request["folder"].get<std::string>().c_str()) != 0) return EXIT_FAILURE;
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, request["stdout"], O_WRONLY | O_APPEND);
  redirect(STDERR_FILENO, request["stderr"], O_WRONLY | O_APPEND);
  std::vector<std::string> words = request["arguments"];
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return run(static_cast<int>(words.size()), arguments.data());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given = names_of_variables();
  const auto run = modewise::cli::load_program();
  if (run == nullptr) return EXIT_FAILURE;
  if (argc > 1) return modewise::cli::end_program(run(argc, argv));
  for (std::string line; std::getline(std::cin, line);) {
    const pid_t child = fork();
    if (child == 0) {
      const nlohmann::json request = nlohmann::json::parse(line);
      replace_variables(given, request["environment"]);
      return modewise::cli::end_program(run_request(request, run));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return EXIT_FAILURE;
    std::cout << (WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status)) << std::endl;
  }
  return EXIT_SUCCESS;
}
