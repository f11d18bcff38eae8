// The program inside a Python process, as a member of a torch.distributed process group.

#include <torch/library.h>

#include <string>
#include <vector>

#include "cli/run_program.h"
#include "modewise/train/distributed/process_group.h"

namespace modewise::python {
namespace {

/// Runs `modewise ARGUMENTS…` with the processes of the group named `group`; returns the exit code.
int64_t run(const std::vector<std::string>& arguments, const std::string& group) {
  std::vector<std::string> words = {"modewise"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  train::join(train::process_group(group));
  const int code = cli::run_program(static_cast<int>(words.size()), argv.data());
  train::join(nullptr);
  return code;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(modewise_tasks, m) {
  m.def("run(str[] arguments, str group) -> int", run);
}

}  // namespace modewise::python
