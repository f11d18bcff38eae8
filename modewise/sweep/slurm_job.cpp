#include "modewise/sweep/slurm_job.h"

#include <fmt/ranges.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"

namespace modewise::sweep {
namespace {

std::string shell_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + bash_word(word);
  return out;
}

/// The quoted value of an option on an #SBATCH line. Slurm has no escapes: the option ends at the line break,
/// a quoted value at the quote.
std::string sbatch_value(const std::string& text, const char* what) {
  require(escape_text(text) == text && text.find_first_of("\"\\") == std::string::npos, ErrorKind::usage,
          "{} {} is not allowed in a Slurm script: it has a control character, line break, quote or "
          "backslash; use another --out",
          what, quote_for_message(text, 200));
  return "\"" + text + "\"";
}

/// Escapes '%' in an output path, where Slurm replaces %j etc.
std::string without_patterns(const std::string& path) {
  std::string out;
  for (const char c : path) out += c == '%' ? "%%" : std::string(1, c);
  return out;
}

}  // namespace

std::string slurm_script(const SlurmJob& job) {
  require(!job.runs.empty(), ErrorKind::usage, "{} has no unfinished runs to submit", job.name);
  const std::string at_once = job.at_once > 0 ? fmt::format("%{}", job.at_once) : "";
  std::string out = "#!/bin/bash\n";
  out += fmt::format("#SBATCH --job-name={}\n", sbatch_value(job.name, "the job"));
  out += fmt::format("#SBATCH --array=0-{}{}\n", job.runs.size() - 1, at_once);
  out += fmt::format("#SBATCH --cpus-per-task={}\n", job.threads);
  out += fmt::format("#SBATCH --output={}\n#SBATCH --requeue\n",
                     sbatch_value(without_patterns(job.folder) + "/logs/slurm-%A_%a.log", "the folder"));
  for (const std::string& option : job.options) {
    require(escape_text(option) == option, ErrorKind::usage,
            "--sbatch expects one sbatch option, got a line break or control character: {}",
            quote_for_message(option, 200));
    out += "#SBATCH " + option + "\n";
  }
  // Slurm requeues a preempted task; the run saves and resumes.
  out += fmt::format("runs=({})\nexec {} --only \"${{runs[$SLURM_ARRAY_TASK_ID]}}\"\n", shell_words(job.runs),
                     shell_words(job.command));
  return out;
}

std::string submit(const SlurmJob& job) {
  const std::filesystem::path script = std::filesystem::path(job.folder) / "slurm.sh";
  write_file_atomically(script, slurm_script(job));
  const std::string command = "sbatch " + shell_word(script.string()) + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  require(pipe != nullptr, ErrorKind::io, "cannot start a process for sbatch");
  std::string printed;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) printed += part.data();
  while (!printed.empty() && printed.back() == '\n') printed.pop_back();
  const int status = ::pclose(pipe);
  require(status != -1 && WIFEXITED(status) && WEXITSTATUS(status) != 127, ErrorKind::no_input,
          "sbatch is not in PATH: call --launcher slurm on a submit host of Slurm");
  require(WEXITSTATUS(status) == 0, ErrorKind::general, "sbatch failed for {}: {}", script.string(), printed);
  return printed;
}

}  // namespace modewise::sweep
