#pragma once
// The program as a function, for main() and for distributed training from Python.

namespace modewise::cli {

/// Runs the command in `argv` and returns the exit code.
int run_program(int argc, char** argv);

}  // namespace modewise::cli
