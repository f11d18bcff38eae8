#pragma once
// Clock, files and processes of a machine. Claims (core/claims.h) and the sweep runner use them through this
// interface, so that tests can replace the machine by a simulated one with delays, faults and crashes.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace modewise {

class System {
 public:
  using Clock = std::chrono::steady_clock;
  using Path = std::filesystem::path;

  /// Identifies a process. `machine` is the scope in which process numbers are unique, "" if unknown; the
  /// start time tells apart processes that had the same number.
  struct Process {
    std::string host, machine, start;
    int64_t number = 0;
  };

  /// A lock that is held until it is destroyed.
  class Lock {
   public:
    virtual ~Lock() = default;
    /// The system's message if the file system has no locks: "No locks available"; else "".
    virtual std::string reason() const = 0;
  };

  /// A program to start.
  struct Command {
    std::string program;
    std::vector<std::string> arguments;
    std::string variable;  // "NAME=value", added to the environment or replacing that variable
    Path log;              // stdout and stderr are appended
  };

  virtual ~System() = default;

  virtual Clock::time_point now() = 0;
  virtual void sleep(std::chrono::milliseconds time) = 0;

  /// The file's text; nullopt if there is no file. Errors: no_input, io.
  virtual std::optional<std::string> read(const Path& file) = 0;
  virtual bool exists(const Path& path) = 0;
  /// Writes a file atomically and durably. Errors: cannot_create, io.
  virtual void write(const Path& file, std::string_view text) = 0;
  virtual void remove(const Path& file) = 0;
  virtual void make_folders(const Path& path) = 0;
  /// Waits for the lock of a file, which is created. Errors: cannot_create, io.
  virtual std::unique_ptr<Lock> lock(const Path& file) = 0;
  /// The lock, or null while another holder has it; this process may be that holder.
  virtual std::unique_ptr<Lock> try_lock(const Path& file) = 0;

  virtual std::string random_token() = 0;
  virtual Process this_process() = 0;
  /// Whether a process of this machine has ended.
  virtual bool has_ended(const Process& process) = 0;

  /// Starts a program and returns its number. It has its own process group, so that Ctrl-C on the terminal
  /// reaches it once, through us; if we are killed, it gets SIGTERM. Errors: cannot_create, io.
  virtual int64_t start(const Command& command) = 0;
  /// Exit code of a started process, or 128 + signal; nullopt while it runs. It is reported once.
  virtual std::optional<int> exit_code(int64_t child) = 0;
  /// Waits until a started process ends.
  virtual void wait(int64_t child) = 0;
  virtual void send_signal(int64_t child, int signal) = 0;
};

/// This machine.
class LocalSystem : public System {
 public:
  Clock::time_point now() override { return Clock::now(); }
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
};

LocalSystem& local_system();

}  // namespace modewise
