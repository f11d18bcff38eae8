#pragma once
// Conversion of exceptions to an error sentence and an exit code, for the CLI and for Python.

#include <string>

namespace modewise::tasks {

struct Failure {
  int exit_code = 1;     // sysexits, as ErrorKind; 128 + signal if interrupted
  int signal = 0;        // interrupting signal; `sentence` is then empty
  std::string sentence;  // expected, found, and where; escaped (core/escaped_text.h)
};

/// The failure of the current exception. `with_backtrace`: includes the backtrace of internal errors.
Failure current_failure(bool with_backtrace = false);

}  // namespace modewise::tasks
