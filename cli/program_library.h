#pragma once
// Start and end of the program `modewise`, whose commands are in libmodewise_cli.so.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "cli/run_program.h"

namespace modewise::cli {

/// Threads of libgomp that wait for other threads spin for milliseconds by default. On a machine with other
/// work they keep the cores from the threads they wait for: training was 20 times slower. 3,000 rounds cost
/// nothing on an idle machine.
inline void shorten_spinning() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "3000", 0);
}

/// run_program of the library, which is loaded, or a null pointer after an error message.
inline auto load_program() -> decltype(&run_program) {
  shorten_spinning();  // libgomp reads the environment once, when it is loaded: with the library
  void* library = dlopen("libmodewise_cli.so", RTLD_NOW | RTLD_GLOBAL);
  void* run = library == nullptr ? nullptr : dlsym(library, kRunProgram);
  if (run == nullptr) std::fprintf(stderr, "error: cannot load the library of the program: %s\n", dlerror());
  return reinterpret_cast<decltype(&run_program)>(run);
}

/// Ends the process without destructors of static objects: libtorch takes a sixth of a second to remove its
/// operators one by one. Sanitizers and coverage report in destructors.
inline int end_program(int code) {
#ifdef MODEWISE_QUICK_EXIT
  if (std::fflush(nullptr) == 0) std::_Exit(code);
#endif
  return code;
}

}  // namespace modewise::cli
