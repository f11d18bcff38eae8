// Starts the program, which is in libmodewise_cli.so.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "cli/run_program.h"

namespace {

/// Threads of libgomp that wait for other threads spin for milliseconds by default. On a machine with other
/// work they keep the cores from the threads they wait for: training was 20 times slower. 3,000 rounds cost
/// nothing on an idle machine.
void shorten_spinning() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "3000", 0);
}

/// Ends the process without destructors of static objects: libtorch takes a sixth of a second to remove its
/// operators one by one. Sanitizers and coverage report in destructors.
int end_program(int code) {
#ifdef MODEWISE_QUICK_EXIT
  if (std::fflush(nullptr) == 0) std::_Exit(code);
#endif
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  shorten_spinning();  // libgomp reads the environment once, when it is loaded: with the library
  void* library = dlopen("libmodewise_cli.so", RTLD_NOW | RTLD_GLOBAL);
  void* run = library == nullptr ? nullptr : dlsym(library, modewise::cli::kRunProgram);
  if (run == nullptr) {
    std::fprintf(stderr, "error: cannot load the library of the program: %s\n", dlerror());
    return EXIT_FAILURE;
  }
  return end_program(reinterpret_cast<decltype(&modewise::cli::run_program)>(run)(argc, argv));
}
