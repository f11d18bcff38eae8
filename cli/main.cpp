#include <unistd.h>

#include <cstdlib>

#include "cli/run_program.h"

namespace {

/// Threads of libgomp that wait for other threads spin for milliseconds by default. On a machine with other
/// work they keep the cores from the threads they wait for: training was 20 times slower. 3,000 rounds cost
/// nothing on an idle machine. libgomp reads the environment once, when it is loaded, so the program starts
/// itself again.
void shorten_spinning(char** arguments) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "3000", 0);
  execv("/proc/self/exe", arguments);  // if it fails, the program runs without the setting
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') shorten_spinning(argv);
  return modewise::cli::run_program(argc, argv);
}
