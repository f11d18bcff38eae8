#include "cli/run_program.h"

#include <csignal>

#include "cli/commands.h"
#include "modewise/core/allocator.h"
#include "modewise/core/closed_pipe.h"
#include "modewise/core/standard_streams.h"
#include "modewise/io/shortened_file.h"
#include "modewise/ops/attention/tensor_blocks.h"

namespace modewise::cli {
namespace {

/// Sets the signal dispositions that the parent process may have changed.
void set_up_signals() {
  survive_closed_pipes();
  std::signal(SIGXFSZ, SIG_IGN);  // writes beyond the file size limit fail and are reported
  std::signal(SIGCHLD, SIG_DFL);  // ignored signals would hide the exit status of a sweep's processes
}

}  // namespace

int run_program(int argc, char** argv) {
  hold_standard_streams();
  set_up_signals();
  io::end_at_shortened_files();
  keep_freed_memory();
  ops::keep_tensors_in_plain_blocks();
  Program program(argc, argv);
  for (const auto add :
       {add_train,    add_evaluate, add_predict,    add_backtest, add_compare,   add_report,
        add_data,     add_config,   add_info,       add_explain,  add_caption,   add_score,
        add_tokenize, add_generate, add_convert,    add_sweep,    add_reproduce, add_decompose,
        add_cost,     add_demo,     add_completion, add_manual})
    add(program);
  return program.run();
}

}  // namespace modewise::cli

extern "C" int modewise_run_program(int argc, char** argv) {
  return modewise::cli::run_program(argc, argv);
}
