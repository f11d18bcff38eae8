#pragma once
// The program as a function, for its main() and for Python's processes that train together.

namespace modewise::cli {

/// Runs the command in `argv`; the exit code.
int run_program(int argc, char** argv);

}  // namespace modewise::cli
