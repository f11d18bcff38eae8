#pragma once
// The program as a function, for main() and for distributed training from Python.

namespace modewise::cli {

/// Runs the command in `argv` and returns the exit code.
int run_program(int argc, char** argv);

/// Name of run_program in the library, for dlsym.
inline constexpr const char* kRunProgram = "modewise_run_program";

}  // namespace modewise::cli
