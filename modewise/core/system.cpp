#include "modewise/core/system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>
#include <thread>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/file_lock.h"
#include "modewise/core/folder.h"
#include "modewise/core/stop_signal.h"
#include "modewise/core/system_call.h"

namespace modewise {
namespace {

namespace fs = std::filesystem;

constexpr int kReadAttempts = 3;

std::string first_line_of(const fs::path& file) {
  try {
    const std::string text = read_file(file);
    return text.substr(0, text.find('\n'));
  } catch (const Error&) {
    return "";
  }
}

/// Boot id and PID namespace.
std::string machine_name() {
  std::error_code error;
  const fs::path processes = fs::read_symlink("/proc/self/ns/pid", error);
  const std::string boot = first_line_of("/proc/sys/kernel/random/boot_id");
  return error || boot.empty() ? "" : boot + " " + processes.string();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// Start time of a process in ticks since boot; "" if there is no such process.
std::string start_of(int64_t process) {
  const std::string line = first_line_of("/proc/" + std::to_string(process) + "/stat");
  size_t at = line.rfind(')');  // the process name before it may contain spaces
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  return at == std::string::npos ? "" : line.substr(at + 1, line.find(' ', at + 1) - at - 1);
}

class LocalLock : public System::Lock {
 public:
  LocalLock(const fs::path& file, FileLock::Mode mode) : lock_(FileLock::of_file(file, mode)) {}
  std::string reason() const override { return lock_.reason(); }
  bool is_taken() const { return lock_.state() == FileLock::State::taken; }

 private:
  FileLock lock_;
};

/// Blocks the stop signals from fork until the child has the default actions: our handlers would only set the
/// child's copy of the flag, and the signal would be lost.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t stop;
    sigemptyset(&stop);
    for (const int signal : kStopSignals) sigaddset(&stop, signal);
    pthread_sigmask(SIG_BLOCK, &stop, &before_);
  }
  void release() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void LocalSystem::sleep(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

/// On NFS a file that is replaced during the read becomes stale: the read is repeated.
std::optional<std::string> LocalSystem::read(const Path& file) {
  for (int attempt = 1;; ++attempt) {
    try {
      return read_file(file);
    } catch (const Error&) {
      std::error_code error;
      if (!fs::exists(file, error) && !error) return std::nullopt;
      if (attempt == kReadAttempts) throw;
    }
  }
}

bool LocalSystem::exists(const Path& path) {
  return fs::exists(path);
}

void LocalSystem::write(const Path& file, std::string_view text) {
  write_file_atomically(file, text);
}

void LocalSystem::remove(const Path& file) {
  fs::remove(file);
}

void LocalSystem::make_folders(const Path& path) {
  modewise::make_folders(path);
}

std::unique_ptr<System::Lock> LocalSystem::lock(const Path& file) {
  return std::make_unique<LocalLock>(file, FileLock::Mode::wait);
}

std::unique_ptr<System::Lock> LocalSystem::try_lock(const Path& file) {
  auto lock = std::make_unique<LocalLock>(file, FileLock::Mode::attempt);
  if (lock->is_taken()) return nullptr;
  return lock;
}

std::string LocalSystem::random_token() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

System::Process LocalSystem::this_process() {
  return {host_name(), machine_name(), start_of(::getpid()), ::getpid()};
}

bool LocalSystem::has_ended(const Process& process) {
  if (process.machine.empty() || process.machine != machine_name() || process.number <= 0) return false;
  const std::string start = start_of(process.number);
  return start.empty() || (!process.start.empty() && start != process.start);
}

int64_t LocalSystem::start(const Command& command) {
  std::string variable = command.variable;
  const std::string name = variable.substr(0, variable.find('=') + 1);
  std::vector<char*> environment = {variable.data()};
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with(name)) environment.push_back(*entry);
  environment.push_back(nullptr);
  std::vector<char*> argv = {const_cast<char*>(command.program.c_str())};
  for (const std::string& argument : command.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int output = open_file(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  require_call(output >= 0, ErrorKind::cannot_create, "cannot create", command.log.native());
  const pid_t parent = ::getpid();
  HeldSignals held;
  const pid_t child = ::fork();
  if (child == 0) {  // async-signal-safe calls only
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(143);
    remove_stop_handlers();
    held.release();
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execve(command.program.c_str(), argv.data(), environment.data());
    ::_exit(127);
  }
  const int reason = errno;
  held.release();
  ::close(output);
  require(child > 0, ErrorKind::io, "cannot start a process: {}", std::strerror(reason));
  return child;
}

std::optional<int> LocalSystem::exit_code(int64_t child) {
  int status = 0;
  if (::waitpid(static_cast<pid_t>(child), &status, WNOHANG) != child) return std::nullopt;
  return code_of(status);
}

void LocalSystem::wait(int64_t child) {
  while (::waitpid(static_cast<pid_t>(child), nullptr, 0) < 0 && errno == EINTR) {
  }
}

void LocalSystem::send_signal(int64_t child, int signal) {
  ::kill(static_cast<pid_t>(child), signal);
}

LocalSystem& local_system() {
  static LocalSystem system;
  return system;
}

}  // namespace modewise
