#pragma once
// Simulated machines that share one file system: processes are fibers, time is a number, and a seed decides
// delays, faults and crashes, so that a failing seed can be replayed.

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/system.h"

namespace modewise::testing_sweep {

/// Rates of a simulation; times in milliseconds.
struct Faults {
  double pause = 0;          // probability that an operation is followed by a pause of up to max_pause
  int64_t max_pause = 0;     // a suspended or starved process
  double crash = 0;          // probability that an operation ends its process by SIGKILL
  double machine_crash = 0;  // probability that it ends all processes of its machine
  double read_error = 0;     // probability that a read fails with EIO
  double full = 0;           // probability that a write begins a full disk, for up to max_full
  int64_t max_full = 0;
  bool no_locks = false;  // the file system has no locks
  double lost_lock = 0;   // probability that a held lock is lost unseen (a restarted lock server)
};

class SimulatedSystem;

class Simulation {
 public:
  using Body = std::function<int(SimulatedSystem&)>;
  static constexpr int kKilled = 128 + 9;

  Simulation(uint64_t seed, const Faults& faults);
  ~Simulation();

  /// Starts a process without a parent on a machine.
  int64_t spawn(int machine, Body body);
  /// Runs until all processes have ended; false if some still run at `limit`.
  bool run(int64_t limit);
  /// Ends all faults: later operations succeed. A file system without locks stays one.
  void end_faults() {
    const bool no_locks = faults_.no_locks;
    faults_ = {};
    faults_.no_locks = no_locks;
    full_until_ = 0;
  }

  int64_t time() const { return time_; }
  std::map<std::string, std::string>& files() { return files_; }
  int exit_code(int64_t process) const { return processes_.at(process)->exit_code; }
  bool alive(int64_t process) const { return !processes_.at(process)->ended; }
  /// State of the processes that still run, for failures.
  std::string running() const;
  int64_t crashes = 0, pauses = 0, failed_writes = 0, operations = 0;

  /// The body of started programs; set before run.
  std::function<int(SimulatedSystem&, const System::Command&)> program;
  /// Observers of a write after its writer's last check, a write that took effect, a removed file, a start.
  std::function<void(SimulatedSystem&, const std::string&file, std::string_view text)> on_write, on_written;
  std::function<void(SimulatedSystem&, const std::string& file)> on_removed;
  std::function<void(SimulatedSystem&, const System::Command&)> on_start;

 private:
  friend class SimulatedSystem;
  struct Process {
    int64_t number = 0, parent = 0, wakes = 0, waits_for_child = 0;
    int machine = 0, exit_code = 0;
    int pending_signal = 0;
    bool ended = false, reported = false, killed = false;
    std::string waits_for_lock;
    std::unique_ptr<SimulatedSystem> system;
    Body body;
    ucontext_t context{};
    std::vector<char> stack;
    std::array<std::byte, 16> exceptions{};  // of the C++ runtime, one for each fiber
  };
  struct Held {
    int64_t owner = 0, token = 0;
  };

  int64_t add(int machine, int64_t parent, Body body);
  void resume(Process& process);
  void pause_current(int64_t time);  // back to the scheduler
  void end(Process& process, int code);
  void kill(Process& process);
  void release(const std::string& file);
  bool chance(double probability);
  int64_t uniform(int64_t low, int64_t high);
  static void enter(unsigned low, unsigned high);

  std::mt19937_64 random_;
  Faults faults_;
  int64_t time_ = 0, next_number_ = 100, next_token_ = 1, full_until_ = 0;
  std::map<std::string, std::string> files_;
  std::map<std::string, Held> locks_;
  std::map<int64_t, std::unique_ptr<Process>> processes_;
  Process* current_ = nullptr;
  ucontext_t scheduler_{};
  const void* scheduler_stack_ = nullptr;  // for AddressSanitizer
  size_t scheduler_stack_size_ = 0;
  std::vector<std::vector<char>> free_stacks_;
};

/// The machine as one simulated process sees it.
class SimulatedSystem : public System {
 public:
  SimulatedSystem(Simulation& simulation, int64_t process) : simulation_(simulation), process_(process) {}

  Clock::time_point now() override;
  void sleep(std::chrono::milliseconds time) override;
  std::optional<std::string> read(const Path& file) override;
  bool exists(const Path& path) override;
  void write(const Path& file, std::string_view text) override;
  void remove(const Path& file) override;
  void make_folders(const Path& path) override;
  std::unique_ptr<Lock> lock(const Path& file) override;
  std::unique_ptr<Lock> try_lock(const Path& file) override;
  std::string random_token() override;
  Process this_process() override;
  bool has_ended(const Process& process) override;
  int64_t start(const Command& command) override;
  std::optional<int> exit_code(int64_t child) override;
  void wait(int64_t child) override;
  void send_signal(int64_t child, int signal) override;

  /// The signal sent to this process, or 0.
  int signal() const;
  int64_t number() const { return process_; }
  /// Checked before each write of this process takes effect, as the program checks its claim.
  std::function<void()> before_write;

 private:
  class HeldLock;
  void operation();  // time passes, faults strike
  bool dead() const;

  Simulation& simulation_;
  int64_t process_;
};

}  // namespace modewise::testing_sweep
