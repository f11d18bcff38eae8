#include "tests/sweep/simulation.h"

#include <cxxabi.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "modewise/core/error.h"

// AddressSanitizer must know on which stack the program is, to clear the marks of frames that an exception
// leaves.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace modewise::testing_sweep {
namespace {

constexpr size_t kStack = size_t{256} << 10;
constexpr int64_t kNever = INT64_MAX;

/// Ends the fiber of a killed process. Destructors may catch it: the next operation throws it again.
struct Killed : std::exception {};

/// swapcontext to a context with this stack.
void swap_contexts(ucontext_t& from, ucontext_t& to, [[maybe_unused]] const void* stack,
                   [[maybe_unused]] size_t size) {
#if defined(__SANITIZE_ADDRESS__)
  void* frames = nullptr;
  __sanitizer_start_switch_fiber(&frames, stack, size);
  ::swapcontext(&from, &to);
  __sanitizer_finish_switch_fiber(frames, nullptr, nullptr);
#else
  ::swapcontext(&from, &to);
#endif
}

std::byte* exception_state() {
  return reinterpret_cast<std::byte*>(abi::__cxa_get_globals());
}

}  // namespace

Simulation::Simulation(uint64_t seed, const Faults& faults) : random_(seed), faults_(faults) {}

Simulation::~Simulation() {
  for (const auto& [number, process] : processes_)
    if (!process->ended) {
      kill(*process);
      resume(*process);
    }
}

int64_t Simulation::spawn(int machine, Body body) {
  return add(machine, 0, std::move(body));
}

int64_t Simulation::add(int machine, int64_t parent, Body body) {
  auto process = std::make_unique<Process>();
  process->number = next_number_++;
  process->parent = parent;
  process->machine = machine;
  process->wakes = time_ + uniform(0, 5);
  process->body = std::move(body);
  process->system = std::make_unique<SimulatedSystem>(*this, process->number);
  if (free_stacks_.empty()) {
    process->stack.resize(kStack);
  } else {
    process->stack = std::move(free_stacks_.back());
    free_stacks_.pop_back();
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(process->stack.data(), process->stack.size());  // of frames never left
#endif
  }
  ::getcontext(&process->context);
  process->context.uc_stack.ss_sp = process->stack.data();
  process->context.uc_stack.ss_size = process->stack.size();
  process->context.uc_link = nullptr;
  const auto address = reinterpret_cast<uintptr_t>(this);
  ::makecontext(&process->context, reinterpret_cast<void (*)()>(&Simulation::enter), 2,
                static_cast<unsigned>(address), static_cast<unsigned>(address >> 32));
  const int64_t number = process->number;
  processes_[number] = std::move(process);
  return number;
}

void Simulation::enter(unsigned low, unsigned high) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): makecontext passes integers
  auto& simulation = *reinterpret_cast<Simulation*>(static_cast<uintptr_t>(high) << 32 | low);
  Process& process = *simulation.current_;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &simulation.scheduler_stack_, &simulation.scheduler_stack_size_);
#endif
  int code = Simulation::kKilled;
  try {
    if (!process.killed) code = process.body(*process.system);
  } catch (const Killed&) {
  } catch (const Error& error) {
    code = error.exit_code();
  }
  process.body = nullptr;
  simulation.end(process, code);
  swap_contexts(process.context, simulation.scheduler_, simulation.scheduler_stack_,
                simulation.scheduler_stack_size_);  // never resumed
}

void Simulation::resume(Process& process) {
  current_ = &process;
  std::array<std::byte, 16> ours{};
  std::memcpy(ours.data(), exception_state(), ours.size());
  std::memcpy(exception_state(), process.exceptions.data(), ours.size());
  swap_contexts(scheduler_, process.context, process.stack.data(), process.stack.size());
  std::memcpy(process.exceptions.data(), exception_state(), ours.size());
  std::memcpy(exception_state(), ours.data(), ours.size());
  current_ = nullptr;
  if (process.ended && !process.stack.empty()) free_stacks_.push_back(std::move(process.stack));
}

void Simulation::pause_current(int64_t time) {
  Process& process = *current_;
  process.wakes = time;
  swap_contexts(process.context, scheduler_, scheduler_stack_, scheduler_stack_size_);
  if (process.killed && std::uncaught_exceptions() == 0) throw Killed();
}

/// Releases the locks of the process, wakes its parent and ends its children.
void Simulation::end(Process& process, int code) {
  process.ended = true;
  process.exit_code = code;
  std::vector<std::string> held;
  for (const auto& [file, lock] : locks_)
    if (lock.owner == process.number) held.push_back(file);
  for (const std::string& file : held) release(file);
  for (const auto& [number, other] : processes_) {
    if (other->ended) continue;
    if (other->parent == process.number && other->pending_signal == 0) other->pending_signal = SIGTERM;
    if (other->waits_for_child == process.number) other->wakes = std::min(other->wakes, time_);
  }
}

/// Removes a lock and wakes the processes that wait for it.
void Simulation::release(const std::string& file) {
  for (const auto& [number, other] : processes_)
    if (!other->ended && other->waits_for_lock == file) other->wakes = std::min(other->wakes, time_);
  locks_.erase(file);  // last: `file` may be its key
}

void Simulation::kill(Process& process) {
  if (process.ended || process.killed) return;
  process.killed = true;
  process.wakes = time_;
  ++crashes;
}

bool Simulation::chance(double probability) {
  return probability > 0 && std::uniform_real_distribution<double>()(random_) < probability;
}

int64_t Simulation::uniform(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random_);
}

std::string Simulation::running() const {
  std::string text = fmt::format("at {} ms", time_);
  for (const auto& [number, process] : processes_)
    if (!process->ended)
      text += fmt::format(
          "; process {} of {} wakes at {}{}{}", number, process->parent, process->wakes,
          process->waits_for_lock.empty() ? "" : ", waits for the lock " + process->waits_for_lock,
          process->waits_for_child == 0 ? "" : ", waits for a child");
  for (const auto& [file, lock] : locks_) text += fmt::format("; process {} holds {}", lock.owner, file);
  return text;
}

bool Simulation::run(int64_t limit) {
  for (;;) {
    Process* next = nullptr;
    int64_t equal = 0;
    for (const auto& [number, process] : processes_) {
      if (process->ended) continue;
      if (next == nullptr || process->wakes < next->wakes) {
        next = process.get();
        equal = 1;
      } else if (process->wakes == next->wakes && uniform(0, equal++) == 0) {
        next = process.get();
      }
    }
    if (next == nullptr) return true;
    if (next->wakes > limit) return false;
    time_ = std::max(time_, next->wakes);
    resume(*next);
  }
}

class SimulatedSystem::HeldLock : public System::Lock {
 public:
  HeldLock(Simulation& simulation, std::string file, int64_t token, std::string reason)
      : simulation_(simulation), file_(std::move(file)), token_(token), reason_(std::move(reason)) {}
  ~HeldLock() override {
    const auto at = simulation_.locks_.find(file_);
    if (at == simulation_.locks_.end() || at->second.token != token_) return;  // lost
    simulation_.release(file_);
  }
  std::string reason() const override { return reason_; }

 private:
  Simulation& simulation_;
  std::string file_;
  int64_t token_;
  std::string reason_;
};

/// Whether the process was killed: its operations have no effect while its fiber is unwound.
bool SimulatedSystem::dead() const {
  if (!simulation_.processes_.at(process_)->killed) return false;
  if (std::uncaught_exceptions() == 0) throw Killed();
  return true;
}

void SimulatedSystem::operation() {
  Simulation& s = simulation_;
  ++s.operations;
  int64_t delay = s.uniform(0, 3);
  if (s.chance(s.faults_.pause)) {
    delay += s.uniform(0, s.faults_.max_pause);
    ++s.pauses;
  }
  Simulation::Process& own = *s.processes_.at(process_);
  if (s.chance(s.faults_.machine_crash)) {
    for (const auto& [number, other] : s.processes_)
      if (other->machine == own.machine) s.kill(*other);
  } else if (s.chance(s.faults_.crash)) {
    s.kill(own);
  }
  if (s.chance(s.faults_.lost_lock) && !s.locks_.empty()) s.release(s.locks_.begin()->first);
  s.pause_current(s.time_ + (own.killed ? 0 : delay));
}

System::Clock::time_point SimulatedSystem::now() {
  return Clock::time_point(std::chrono::milliseconds(
      simulation_.time_ + 1'000'000 * (1 + simulation_.processes_.at(process_)->machine)));
}

void SimulatedSystem::sleep(std::chrono::milliseconds time) {
  if (dead()) return;
  operation();
  simulation_.pause_current(simulation_.time_ + time.count());
}

std::optional<std::string> SimulatedSystem::read(const Path& file) {
  if (dead()) return std::nullopt;
  operation();
  if (simulation_.chance(simulation_.faults_.read_error))
    fail(ErrorKind::io, "cannot read {}: Input/output error", file.string());
  const auto at = simulation_.files_.find(file.string());
  return at == simulation_.files_.end() ? std::nullopt : std::optional<std::string>(at->second);
}

bool SimulatedSystem::exists(const Path& path) {
  if (dead()) return false;
  operation();
  return simulation_.files_.contains(path.string());
}

void SimulatedSystem::write(const Path& file, std::string_view text) {
  if (dead()) return;
  operation();
  Simulation& s = simulation_;
  if (s.chance(s.faults_.full))
    s.full_until_ = std::max(s.full_until_, s.time_ + s.uniform(0, s.faults_.max_full));
  if (s.time_ < s.full_until_) {
    ++s.failed_writes;
    fail(ErrorKind::io, "cannot write {}: No space left on device", file.string());
  }
  if (before_write) before_write();
  if (s.on_write) s.on_write(*this, file.string(), text);
  operation();  // the file is synced between the check and the rename
  if (dead()) return;
  s.files_[file.string()] = text;
  if (s.on_written) s.on_written(*this, file.string(), text);
}

void SimulatedSystem::remove(const Path& file) {
  if (dead()) return;
  operation();
  simulation_.files_.erase(file.string());
  if (simulation_.on_removed) simulation_.on_removed(*this, file.string());
}

void SimulatedSystem::make_folders(const Path&) {
  if (!dead()) operation();
}

std::unique_ptr<System::Lock> SimulatedSystem::try_lock(const Path& file) {
  Simulation& s = simulation_;
  if (!dead()) operation();
  if (s.faults_.no_locks || dead())
    return std::make_unique<HeldLock>(s, file.string(), 0, "No locks available");
  if (s.locks_.contains(file.string())) return nullptr;
  const int64_t token = s.next_token_++;
  s.locks_[file.string()] = {process_, token};
  return std::make_unique<HeldLock>(s, file.string(), token, "");
}

std::unique_ptr<System::Lock> SimulatedSystem::lock(const Path& file) {
  Simulation::Process& own = *simulation_.processes_.at(process_);
  for (;;) {
    if (auto lock = try_lock(file)) return lock;
    own.waits_for_lock = file.string();
    simulation_.pause_current(kNever);
    own.waits_for_lock.clear();
  }
}

std::string SimulatedSystem::random_token() {
  return fmt::format("token{}", simulation_.next_token_++);
}

System::Process SimulatedSystem::this_process() {
  const int machine = simulation_.processes_.at(process_)->machine;
  return {fmt::format("host{}", machine), fmt::format("machine{}", machine), "1", process_};
}

bool SimulatedSystem::has_ended(const Process& process) {
  if (process.machine != this_process().machine) return false;
  const auto at = simulation_.processes_.find(process.number);
  return at == simulation_.processes_.end() || at->second->ended;
}

int64_t SimulatedSystem::start(const Command& command) {
  if (dead()) return 0;
  operation();
  if (simulation_.on_start) simulation_.on_start(*this, command);
  return simulation_.add(
      simulation_.processes_.at(process_)->machine, process_,
      [command, &s = simulation_](SimulatedSystem& system) { return s.program(system, command); });
}

std::optional<int> SimulatedSystem::exit_code(int64_t child) {
  Simulation::Process& process = *simulation_.processes_.at(child);
  if (!process.ended || process.reported || dead()) return std::nullopt;
  process.reported = true;
  return process.exit_code;
}

void SimulatedSystem::wait(int64_t child) {
  Simulation::Process& own = *simulation_.processes_.at(process_);
  while (!dead() && !simulation_.processes_.at(child)->ended) {
    own.waits_for_child = child;
    simulation_.pause_current(kNever);
    own.waits_for_child = 0;
  }
}

void SimulatedSystem::send_signal(int64_t child, int signal) {
  if (dead()) return;
  Simulation::Process& process = *simulation_.processes_.at(child);
  if (signal == SIGKILL)
    simulation_.kill(process);
  else if (process.pending_signal == 0)
    process.pending_signal = signal;
}

int SimulatedSystem::signal() const {
  return simulation_.processes_.at(process_)->pending_signal;
}

}  // namespace modewise::testing_sweep
