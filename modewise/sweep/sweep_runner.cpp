#include "modewise/sweep/sweep_runner.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "modewise/core/claims.h"
#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/parse_json.h"
#include "modewise/core/progress.h"
#include "modewise/core/stop_signal.h"
#include "modewise/sweep/data_identity.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;
using Clock = System::Clock;

/// The last line of a process's output, for failure reports. A log on a full disk is empty.
std::string last_line(std::string text, int exit_code) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.empty() && exit_code == static_cast<int>(ErrorKind::io))
    return "a read or write failed, and its log is empty";
  if (text.empty()) return "it printed nothing";
  return text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
}

struct Child {
  size_t run = 0;
  std::unique_ptr<Claim> claim;
  Clock::time_point begin;
  double earlier = 0;                  // fraction of its steps that earlier processes had done
  double progress = 0;                 // fraction that its log shows
  Clock::time_point last_heartbeat;    // time of the last written heartbeat
  Clock::time_point next_heartbeat;    // time of the next one
  std::string heartbeat_failure = {};  // error of the last heartbeat; "" if it was written
  bool timed_out = false;
  bool lost = false;     // another sweep took its run over
  bool run_out = false;  // its claim timed out without a heartbeat
};

/// Heartbeats are written every 1/kHeartbeats of the claim timeout; a failed one is retried after 1/kAttempts
/// of it.
constexpr int kHeartbeats = 4, kAttempts = 16;

/// Polling intervals for our processes, and for runs of other sweeps.
constexpr std::chrono::milliseconds kPoll{50}, kLookAgain{1000};

/// Interval of reading the logs of our processes for their progress.
constexpr std::chrono::seconds kReadLogs{10};

class Runner {
 public:
  Runner(const SweepPlan& plan, const SweepOptions& options)
      : plan_(plan),
        options_(options),
        system_(*options.system),
        claims_(options.out / "claims", options.lease, system_),
        data_(options.out) {
    if (options_.program.empty()) options_.program = fs::read_symlink("/proc/self/exe").string();
    for (const char* name : {"runs", "logs", "done"}) system_.make_folders(options_.out / name);
    outcome_.runs.resize(plan_.runs.size());
    again_.resize(plan_.runs.size());
    yield_until_.resize(plan_.runs.size());
    for (size_t i = 0; i < plan_.runs.size(); ++i) look_at(i);
    require_runs(plan_, options_.only);
    for (const SweepRun& run : plan_.runs)
      wanted_.push_back(options_.only.empty() ||
                        std::ranges::find(options_.only, run.name) != options_.only.end());
  }

  SweepOutcome found() { return std::move(outcome_); }

  SweepOutcome run() {
    const int64_t done = count(RunState::finished), all = std::ssize(plan_.runs);
    const int64_t chosen = std::count(wanted_.begin(), wanted_.end(), true);
    spdlog::info("{}: {}, {} finished earlier; {} at once with {} thread{} each; in {}", plan_.name,
                 chosen < all ? fmt::format("{} of {}", chosen, counted(all, "run")) : counted(all, "run"),
                 done, options_.jobs, options_.threads, options_.threads == 1 ? "" : "s",
                 options_.out.string());
    Progress progress(plan_.name, chosen, "runs", done);
    try {
      while (step(progress)) {
      }
    } catch (...) {
      end_children();
      throw;
    }
    progress.finish();
    return std::move(outcome_);
  }

 private:
  /// One step of the loop: starts, heartbeats and collects runs; false if none is left.
  bool step(Progress& progress) {
    warn_unguarded();
    forward_signal();
    heartbeat();
    const bool more = outcome_.signal == 0 && start_runs(progress);
    if (children_.empty() && !more) return false;
    if (!collect(progress)) system_.sleep(kPoll);
    if (options_.watch) options_.watch(outcome_);
    read_logs();
    double under_way = 0, earlier = 0;
    for (const auto& [pid, child] : children_) {
      under_way += child.progress;
      earlier += child.earlier;
    }
    progress.update(count(RunState::finished) + count(RunState::failed), note(), under_way, earlier);
    return true;
  }

  /// Reads from the logs how far our processes are; only the time left depends on it, so errors are ignored.
  void read_logs() {
    if (system_.now() < next_logs_) return;
    next_logs_ = system_.now() + kReadLogs;
    for (auto& [pid, child] : children_) child.progress = progress_of(child.run).value_or(child.earlier);
  }

  std::optional<double> progress_of(size_t i) const {
    try {
      return last_progress(system_.read(outcome_.runs[i].log).value_or(""), "steps");
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  void warn_unguarded() {
    if (claims_.guarded() || std::exchange(warned_unguarded_, true)) return;
    spdlog::warn(
        "the file system of {} has no locks ({}): do not start a second sweep in it, which might train the "
        "same "
        "runs",
        options_.out.string(), claims_.reason_unguarded());
  }

  /// Lets the children save and end before their claims are released.
  void end_children() {
    for (const auto& [pid, child] : children_) system_.send_signal(pid, SIGTERM);
    for (const auto& [pid, child] : children_) system_.wait(pid);
  }

  double seconds(const Child& child) const {
    return std::chrono::duration<double>(system_.now() - child.begin).count();
  }

  fs::path marker(size_t i) const { return options_.out / "done" / (plan_.runs[i].name + ".json"); }
  fs::path started(size_t i) const { return options_.out / "done" / (plan_.runs[i].name + ".started.json"); }

  /// Reads the state of run i that an earlier start of the sweep left.
  void look_at(size_t i) {
    RunOutcome& run = outcome_.runs[i];
    run.folder = options_.out / "runs" / plan_.runs[i].name;
    run.log = options_.out / "logs" / (plan_.runs[i].name + ".log");
    const auto settings = system_.read(started(i));
    if (!settings) return;
    const auto finished = system_.read(marker(i));
    // Without the file it failed at once, or its folder was removed: it is trained again.
    if (!system_.exists(run.folder / (finished ? "metrics.json" : "manifest.json"))) return;
    const auto earlier = parse_json(*settings, started(i).string());
    require(earlier.is_object() && same_settings(i, earlier), ErrorKind::config,
            "{} has other settings than {} now: use another --out, or remove that folder",
            run.folder.string(), plan_.name);
    if (!finished) return;
    const auto done = parse_json(*finished, marker(i).string());
    require_same_data(i, earlier.value("data", ""));
    run.state = RunState::finished;
    run.earlier = true;
    run.seconds = done.is_object() ? done.value("seconds", 0.0) : 0.0;
  }

  /// Whether run i was started with its settings of now; its data may have moved.
  bool same_settings(size_t i, const nlohmann::json& earlier) {
    const std::string then = earlier.value("settings", ""), now = description(plan_, plan_.runs[i]);
    if (then == now) return true;
    const std::string data = earlier.value("data", "");
    return !data.empty() && data == data_.of(plan_, plan_.runs[i]) &&
           lines_without_paths(then) == lines_without_paths(now);
  }

  /// Config error if the data of the finished run i have changed; `then`: their identity, "" if unknown.
  void require_same_data(size_t i, const std::string& then) {
    const std::string now = then.empty() ? "" : data_.of(plan_, plan_.runs[i]);
    require(now.empty() || now == then, ErrorKind::config,
            "{} was trained on other data than its files hold now, and is not mixed with runs on these: use "
            "another --out, or remove that folder",
            outcome_.runs[i].folder.string());
  }

  bool running(size_t i) const {
    return std::any_of(children_.begin(), children_.end(),
                       [&](const auto& entry) { return entry.second.run == i; });
  }

  /// Starts free runs up to the number of jobs; returns whether other sweeps still hold unfinished runs.
  bool start_runs(Progress& progress) {
    bool left = false;
    for (size_t i = 0; i < plan_.runs.size(); ++i) {
      if (!wanted_[i] || outcome_.runs[i].state != RunState::waiting || running(i)) continue;
      left = true;
      if (std::ssize(children_) >= options_.jobs) break;
      if (system_.now() < again_[i]) continue;
      progress.clear();
      start_run(i);
    }
    return left;
  }

  void start_run(size_t i) {
    const SweepRun& run = plan_.runs[i];
    const bool waited = again_[i] != Clock::time_point();
    again_[i] = system_.now() + kLookAgain;
    std::unique_ptr<Claim> claim = claims_.take(run.name);
    if (!claim) {
      if (!waited) spdlog::info("{} is being trained elsewhere ({})", run.name, claims_.owner(run.name));
      return;
    }
    look_at(i);  // its owner may have finished it
    if (outcome_.runs[i].state == RunState::finished) return;
    if (claim->taken_over()) yield_until_[i] = system_.now() + options_.lease;
    const fs::path& folder = outcome_.runs[i].folder;
    const bool resume = system_.exists(started(i)) && system_.exists(folder / "config.toml") &&
                        system_.exists(folder / "manifest.json");
    const double earlier = resume ? progress_of(i).value_or(0) : 0;
    const nlohmann::json start = {{"settings", description(plan_, run)}, {"data", data_.of(plan_, run)}};
    system_.write(started(i), start.dump(1) + "\n");
    const int64_t pid = system_.start(
        {options_.program, training_arguments(plan_, run, folder.string(), options_.threads, resume),
         fmt::format("{}={}", kClaimVariable, claim->ticket()), outcome_.runs[i].log});
    spdlog::info("{} {}", resume ? "resumed" : "started", run.name);
    const Clock::time_point now = system_.now();
    children_[pid] = {i, std::move(claim), now, earlier, earlier, now, now + options_.lease / kHeartbeats};
  }

  /// Writes the heartbeats of our runs. A run that another sweep took over, or may take over since no
  /// heartbeat could be written within the claim timeout, is given up: its process is killed, as it could not
  /// save anyway.
  void heartbeat() {
    for (auto& [pid, child] : children_) {
      if (child.lost || child.run_out || system_.now() < child.next_heartbeat) continue;
      if (!still_ours(child)) system_.send_signal(pid, SIGKILL);
    }
  }

  /// Writes a heartbeat.
  bool still_ours(Child& child) {
    const std::string& name = plan_.runs[child.run].name;
    const Clock::time_point now = system_.now();
    try {
      child.lost = !child.claim->heartbeat();
      if (!child.heartbeat_failure.empty() && !child.lost)
        spdlog::info("the heartbeat of {} works again", name);
      child.last_heartbeat = now;
      child.next_heartbeat = now + options_.lease / kHeartbeats;
      child.heartbeat_failure.clear();
      return !child.lost;
    } catch (const Error& error) {
      if (child.heartbeat_failure.empty())
        spdlog::warn("cannot write the heartbeat of {}: {}; retrying until the claim timeout", name,
                     error.what());
      child.heartbeat_failure = error.what();
      child.next_heartbeat = now + options_.lease / kAttempts;
      child.run_out = now - child.last_heartbeat >= options_.lease;
      return !child.run_out;
    }
  }

  /// Collects the children that have ended; true if there were any.
  bool collect(Progress& progress) {
    bool any = false;
    for (auto it = children_.begin(); it != children_.end();) {
      const std::optional<int> code = system_.exit_code(it->first);
      if (!code) {
        Child& child = it->second;
        if (options_.time_limit > 0 && !child.timed_out && seconds(child) > options_.time_limit) {
          child.timed_out = true;
          system_.send_signal(it->first, SIGKILL);
        }
        ++it;
        continue;
      }
      any = true;
      progress.clear();
      settle(it->second, *code);
      it = children_.erase(it);
    }
    return any;
  }

  void settle(const Child& child, int exit_code) {
    RunOutcome& run = outcome_.runs[child.run];
    const std::string& name = plan_.runs[child.run].name;
    run.exit_code = exit_code;
    run.seconds = seconds(child);
    if (exit_code == 0 && system_.exists(run.folder / "metrics.json")) {
      run.state = RunState::finished;
      system_.write(marker(child.run), nlohmann::json{{"seconds", run.seconds}}.dump() + "\n");
      spdlog::info("finished {} in {}", name, duration_text(run.seconds));
    } else if (child.lost || (exit_code == static_cast<int>(ErrorKind::cannot_create) &&
                              system_.now() < yield_until_[child.run])) {
      // Taken over by another sweep; or taken over by us, while its slow previous owner is still in the
      // folder until its next save.
      spdlog::info("{} is trained elsewhere too: checking it again", name);
      again_[child.run] = system_.now() + kLookAgain;
    } else if (outcome_.signal != 0 && exit_code >= 128) {
      run.state = RunState::stopped;
      spdlog::info("stopped {}", name);
    } else {
      run.state = RunState::failed;
      run.failure = failure_of(child);
      if (child.timed_out)
        spdlog::warn("{} was stopped: {}", name, run.failure);
      else
        spdlog::error("{} failed with exit code {}: {} (full output in {})", name, exit_code, run.failure,
                      run.log.string());
    }
  }

  std::string failure_of(const Child& child) const {
    if (child.timed_out)  // short limits in full: "1.5 s" beside the seconds of other runs
      return fmt::format("it took longer than {}", options_.time_limit < 10
                                                       ? fmt::format("{:.2g} s", options_.time_limit)
                                                       : duration_text(options_.time_limit));
    if (child.run_out)
      return fmt::format("it was killed, since no heartbeat of its claim was written for {}: {}",
                         duration_text(std::chrono::duration<double>(options_.lease).count()),
                         child.heartbeat_failure);
    const RunOutcome& run = outcome_.runs[child.run];
    return last_line(system_.read(run.log).value_or(""), run.exit_code);
  }

  void forward_signal() {
    if (outcome_.signal != 0 || stop_signal() == 0) return;
    outcome_.signal = stop_signal();
    spdlog::info("signal {}: waiting for {} runs to save", outcome_.signal, children_.size());
    for (const auto& [pid, child] : children_) system_.send_signal(pid, outcome_.signal);
  }

  /// The number of chosen runs in this state.
  int64_t count(RunState state) const {
    int64_t n = 0;
    for (size_t i = 0; i < outcome_.runs.size(); ++i) n += wanted_[i] && outcome_.runs[i].state == state;
    return n;
  }
  std::string note() const {
    const int64_t failed = count(RunState::failed);
    std::string text = fmt::format("{} running", children_.size());
    return failed > 0 ? text + fmt::format(", {} failed", failed) : text;
  }

  const SweepPlan& plan_;
  SweepOptions options_;
  SweepOutcome outcome_;
  System& system_;
  Claims claims_;
  DataIdentity data_;
  bool warned_unguarded_ = false;
  std::vector<bool> wanted_;                    // the chosen runs
  Clock::time_point next_logs_;                 // next reading of the logs
  std::vector<Clock::time_point> again_;        // next check of a run that was not free
  std::vector<Clock::time_point> yield_until_;  // until when the previous owner may still be in the folder
  std::map<int64_t, Child> children_;           // by process number
};

}  // namespace

void require_runs(const SweepPlan& plan, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    require(std::ranges::find(plan.runs, name, &SweepRun::name) != plan.runs.end(), ErrorKind::config,
            "{} has no run {}; --dry-run lists the runs", plan.name, name);
}

SweepOutcome look_at_sweep(const SweepPlan& plan, const SweepOptions& options) {
  return Runner(plan, options).found();
}

void look_again(const SweepPlan& plan, const SweepOptions& options, SweepOutcome& outcome) {
  SweepOutcome now = look_at_sweep(plan, options);
  for (size_t i = 0; i < now.runs.size(); ++i)
    if (now.runs[i].state == RunState::finished && outcome.runs[i].state != RunState::finished)
      outcome.runs[i] = std::move(now.runs[i]);
}

void remove_sweep_leftovers(const fs::path& out) {
  for (const fs::path& folder : {out, out / "claims", out / "done"})
    remove_stale_temporaries(folder, [](std::string_view) { return true; });
}

std::unique_ptr<System::Lock> lock_results(const SweepOptions& options) {
  return options.system->lock(options.out / "claims" / "lock");
}

Shares share_cores(int64_t jobs, int64_t threads) {
  const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  if (jobs <= 0) jobs = std::max<int64_t>(cores / std::max<int64_t>(threads, 1), 1);
  return {jobs, threads > 0 ? threads : std::max<int64_t>(cores / jobs, 1)};
}

SweepOutcome run_sweep(const SweepPlan& plan, const SweepOptions& options) {
  return Runner(plan, options).run();
}

}  // namespace modewise::sweep
