#pragma once
// Whatever goes wrong as one sentence and an exit code, for the program and for Python alike.

#include <string>

namespace modewise::tasks {

struct Failure {
  int exit_code = 1;     // sysexits, as ErrorKind; 128 + signal where one stopped the work
  int signal = 0;        // the one that stopped the work; `sentence` is empty then
  std::string sentence;  // what was wanted, what came, and where; escaped (core/escaped_text.h)
};

/// Of the exception that is being handled. `with_backtrace`: of internal errors, where they came from.
Failure current_failure(bool with_backtrace = false);

}  // namespace modewise::tasks
