// Starts the program, which is in libmodewise_cli.so.

#include "cli/program_library.h"

int main(int argc, char** argv) {
  const auto run = modewise::cli::load_program();
  return run == nullptr ? EXIT_FAILURE : modewise::cli::end_program(run(argc, argv));
}
