#include "modewise/sweep/sweep_runner.h"

#include <fcntl.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/parse_json.h"
#include "modewise/core/progress.h"
#include "modewise/core/stop_signal.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Starts `arguments` with stdout and stderr going to the end of `log`. The child has a process group of its
/// own, so that Ctrl-C on the terminal reaches it once, through us; if we are killed, it is asked to stop.
pid_t start(const std::string& program, const std::vector<std::string>& arguments, const fs::path& log) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  require(output >= 0, ErrorKind::cannot_create, "cannot create {}: {}", log.string(), std::strerror(errno));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {  // only calls that are safe after fork
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(143);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  const int reason = errno;
  ::close(output);
  require(child > 0, ErrorKind::io, "cannot start a process: {}", std::strerror(reason));
  return child;
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  require(!error, ErrorKind::cannot_create, "cannot create {}: {}", path.string(), error.message());
}

struct Child {
  size_t run = 0;
  Clock::time_point begin;
  bool timed_out = false;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }
};

class Runner {
 public:
  Runner(const SweepPlan& plan, const SweepOptions& options) : plan_(plan), options_(options) {
    if (options_.program.empty()) options_.program = fs::read_symlink("/proc/self/exe").string();
    for (const char* name : {"runs", "logs", "done"}) make_folder(options_.out / name);
    outcome_.runs.resize(plan_.runs.size());
    for (size_t i = 0; i < plan_.runs.size(); ++i) look_at(i);
  }

  SweepOutcome found() { return std::move(outcome_); }

  SweepOutcome run() {
    int64_t done = count(RunState::finished);
    spdlog::info("{}: {} runs, {} finished earlier; {} at once with {} thread{} each; in {}", plan_.name,
                 plan_.runs.size(), done, options_.jobs, options_.threads, options_.threads == 1 ? "" : "s",
                 options_.out.string());
    Progress progress(plan_.name, std::ssize(plan_.runs), "runs", done);
    size_t next = 0;
    while (true) {
      forward_signal();
      while (outcome_.signal == 0 && std::ssize(children_) < options_.jobs && next < plan_.runs.size()) {
        if (outcome_.runs[next].state == RunState::waiting) start_run(next, progress);
        ++next;
      }
      if (children_.empty() && (outcome_.signal != 0 || next == plan_.runs.size())) break;
      if (!collect(progress)) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      progress.update(count(RunState::finished) + count(RunState::failed), note());
    }
    progress.finish();
    return std::move(outcome_);
  }

 private:
  fs::path marker(size_t i) const { return options_.out / "done" / (plan_.runs[i].name + ".json"); }
  fs::path started(size_t i) const { return options_.out / "done" / (plan_.runs[i].name + ".started.json"); }

  /// What an earlier start of the sweep left of run i.
  void look_at(size_t i) {
    RunOutcome& run = outcome_.runs[i];
    run.folder = options_.out / "runs" / plan_.runs[i].name;
    run.log = options_.out / "logs" / (plan_.runs[i].name + ".log");
    if (!fs::exists(started(i))) return;
    const auto earlier = parse_json(read_file(started(i)), started(i).string());
    require(earlier.is_object() && earlier.value("settings", "") == description(plan_, plan_.runs[i]),
            ErrorKind::config,
            "{} was made with other settings than those of {} now: give another --out, or remove that folder "
            "and {}",
            run.folder.string(), plan_.name, started(i).string());
    if (!fs::exists(marker(i))) return;
    const auto done = parse_json(read_file(marker(i)), marker(i).string());
    run.state = RunState::finished;
    run.earlier = true;
    run.seconds = done.is_object() ? done.value("seconds", 0.0) : 0.0;
  }

  void start_run(size_t i, Progress& progress) {
    const SweepRun& run = plan_.runs[i];
    const fs::path& folder = outcome_.runs[i].folder;
    const bool resume =
        fs::exists(started(i)) && fs::exists(folder / "config.toml") && fs::exists(folder / "manifest.json");
    write_file_atomically(started(i), nlohmann::json{{"settings", description(plan_, run)}}.dump(1) + "\n");
    const pid_t pid =
        start(options_.program, training_arguments(plan_, run, folder.string(), options_.threads, resume),
              outcome_.runs[i].log);
    children_[pid] = {i, Clock::now()};
    progress.clear();
    spdlog::info("{} {}", resume ? "resumed" : "started", run.name);
  }

  /// Takes the children that have ended; whether there were any.
  bool collect(Progress& progress) {
    bool any = false;
    for (auto it = children_.begin(); it != children_.end();) {
      int status = 0;
      const pid_t ended = ::waitpid(it->first, &status, WNOHANG);
      if (ended != it->first) {
        Child& child = it->second;
        if (options_.time_limit > 0 && !child.timed_out && child.seconds() > options_.time_limit) {
          child.timed_out = true;
          ::kill(it->first, SIGKILL);
        }
        ++it;
        continue;
      }
      any = true;
      progress.clear();
      settle(it->second, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
      it = children_.erase(it);
    }
    return any;
  }

  void settle(const Child& child, int exit_code) {
    RunOutcome& run = outcome_.runs[child.run];
    const std::string& name = plan_.runs[child.run].name;
    run.exit_code = exit_code;
    run.seconds = child.seconds();
    if (exit_code == 0 && fs::exists(run.folder / "metrics.json")) {
      run.state = RunState::finished;
      write_file_atomically(marker(child.run), nlohmann::json{{"seconds", run.seconds}}.dump() + "\n");
      spdlog::info("finished {} in {}", name, duration_text(run.seconds));
    } else if (outcome_.signal != 0 && exit_code >= 128) {
      run.state = RunState::stopped;
      spdlog::info("stopped {}", name);
    } else {
      run.state = RunState::failed;
      run.failure = child.timed_out
                        ? fmt::format("it took longer than {}", duration_text(options_.time_limit))
                        : last_line(run.log);
      spdlog::error("{} failed with exit code {}: {} (all of it in {})", name, exit_code, run.failure,
                    run.log.string());
    }
  }

  void forward_signal() {
    if (outcome_.signal != 0 || stop_signal() == 0) return;
    outcome_.signal = stop_signal();
    spdlog::info("signal {}: waiting for {} runs to save", outcome_.signal, children_.size());
    for (const auto& [pid, child] : children_) ::kill(pid, outcome_.signal);
  }

  int64_t count(RunState state) const {
    return std::count_if(outcome_.runs.begin(), outcome_.runs.end(),
                         [&](const RunOutcome& run) { return run.state == state; });
  }
  std::string note() const {
    const int64_t failed = count(RunState::failed);
    std::string text = fmt::format("{} running", children_.size());
    return failed > 0 ? text + fmt::format(", {} failed", failed) : text;
  }

  const SweepPlan& plan_;
  SweepOptions options_;
  SweepOutcome outcome_;
  std::map<pid_t, Child> children_;
};

}  // namespace

std::string last_line(const fs::path& log) {
  if (!fs::exists(log)) return "it printed nothing";
  std::string text = read_file(log);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.empty()) return "it printed nothing";
  return text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
}

SweepOutcome look_at_sweep(const SweepPlan& plan, const SweepOptions& options) {
  return Runner(plan, options).found();
}

SweepOutcome run_sweep(const SweepPlan& plan, const SweepOptions& options) {
  return Runner(plan, options).run();
}

}  // namespace modewise::sweep
