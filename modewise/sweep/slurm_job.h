#pragma once
// Slurm job array for a sweep: each array task runs one run of the sweep in the shared folder.

#include <string>
#include <vector>

namespace modewise::sweep {

struct SlurmJob {
  std::string name;
  std::string folder;                // of the sweep; the output of the tasks goes to its logs/
  std::vector<std::string> command;  // program and arguments; `--only RUN` is appended
  std::vector<std::string> runs;     // one array task each
  std::vector<std::string>
      options;          // of sbatch, such as "--partition=long"; they override those of the script
  int64_t threads = 1;  // per run: Slurm's cpus-per-task
  int64_t at_once = 0;  // concurrent array tasks; 0: no limit
};

/// The batch script for sbatch, with every path quoted. Usage errors: no runs; name, folder or an option with
/// characters that an #SBATCH line cannot have (control characters and line breaks; in name and folder also
/// quotes and backslashes).
std::string slurm_script(const SlurmJob& job);

/// Writes FOLDER/slurm.sh, submits it with sbatch, and returns its output: "Submitted batch job 12". Errors:
/// no_input without sbatch in PATH, general with sbatch's message if it fails; cannot_create, io.
std::string submit(const SlurmJob& job);

}  // namespace modewise::sweep
