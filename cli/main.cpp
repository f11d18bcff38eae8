#include "cli/commands.h"
#include "modewise/core/heap.h"
#include "modewise/core/standard_streams.h"
#include "modewise/io/shortened_file.h"

int main(int argc, char** argv) {
  using namespace modewise::cli;
  modewise::hold_standard_streams();
  modewise::io::end_at_shortened_files();
  modewise::keep_freed_memory();
  Program program(argc, argv);
  add_train(program);
  add_evaluate(program);
  add_predict(program);
  add_backtest(program);
  add_compare(program);
  add_report(program);
  add_data(program);
  add_config(program);
  add_info(program);
  add_explain(program);
  add_tokenize(program);
  add_generate(program);
  add_convert(program);
  add_sweep(program);
  add_decompose(program);
  add_cost(program);
  add_demo(program);
  return program.run();
}
