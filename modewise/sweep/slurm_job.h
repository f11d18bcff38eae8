#pragma once
// A sweep as a job array of Slurm: an array task is one sweep of one run, in the folder that all share.

#include <string>
#include <vector>

namespace modewise::sweep {

struct SlurmJob {
  std::string name;
  std::string folder;                // of the sweep; the tasks' own output goes to logs/ there
  std::vector<std::string> command;  // program and arguments, to which `--only RUN` is added
  std::vector<std::string> runs;     // an array task each
  std::vector<std::string> options;  // of sbatch, as in "--partition=long"; they act over those given here
  int64_t threads = 1;               // of a run: Slurm's cpus-per-task
  int64_t at_once = 0;               // array tasks at once; 0: as many as Slurm will run
};

/// The script for sbatch: every path a quoted word. Usage errors: there are no runs; the name, the folder or
/// an option holds what no #SBATCH line can hold (control characters and line breaks; in name and folder also
/// quotes and backslashes).
std::string slurm_script(const SlurmJob& job);

/// Writes FOLDER/slurm.sh, gives it to sbatch, and returns what that printed: "Submitted batch job 12".
/// Errors: no_input without sbatch in PATH, general with sbatch's own sentence when it refuses;
/// cannot_create, io.
std::string submit(const SlurmJob& job);

/// `text` as one word of a POSIX shell, as it is.
std::string shell_word(const std::string& text);
/// `text` as one word of bash without unsafe characters (core/escaped_text.h): 'a b', or $'a\x0ab' where it
/// holds some.
std::string bash_word(const std::string& text);

}  // namespace modewise::sweep
