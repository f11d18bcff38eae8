#pragma once
// Work claims: several programs, also on several machines, share pieces of work through one folder; the
// holder of a claim does the piece. A claim is a lease. The owner's heartbeat rewrites its file. A claim is
// dead when its file has not changed for the claim timeout, by the observer's own clock (clocks of machines
// are never compared), or at once when its process on this machine has ended. A dead claim is taken over. A
// slow owner that was taken for dead finds another token in the file: every write to a run checks it first
// (require_own_claim in OutputFile, MetricLog, EventFile and RunFolder::lock).

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "modewise/core/system.h"

namespace modewise {

/// A claim that this process holds. The destructor releases it.
class Claim {
 public:
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// Rewrites the claim file; false when another process has taken the claim over. Errors: io, cannot_create
  /// if the file cannot be written; the claim still holds until its timeout, so the caller may retry.
  bool heartbeat();
  /// Whether the previous owner was dead.
  bool taken_over() const { return taken_over_; }
  /// "TOKEN FILE", for the environment variable kClaimVariable of a process that does the work.
  std::string ticket() const;

 private:
  friend class Claims;
  Claim(System& system, std::filesystem::path folder, std::string name, std::string token, bool taken_over);

  System& system_;
  std::filesystem::path folder_;
  std::string name_, token_;
  bool taken_over_ = false;
  int64_t heartbeats_ = 0;
};

class Claims {
 public:
  /// The claims in `folder`, which is created; a claim without a heartbeat for `lease` is dead.
  Claims(std::filesystem::path folder, std::chrono::milliseconds lease, System& system = local_system());

  /// False where the file system has no locks: two programs that take a claim at the same moment may then
  /// both hold it. `reason_unguarded` is the system's error message.
  bool guarded() const { return reason_unguarded_.empty(); }
  const std::string& reason_unguarded() const { return reason_unguarded_; }
  std::chrono::milliseconds lease() const { return lease_; }
  /// The claim on `name` (a file name); null while another owner holds it and is not known to be dead.
  std::unique_ptr<Claim> take(const std::string& name);
  /// The owner, as "host, process 12"; "" if there is none.
  std::string owner(const std::string& name) const;

 private:
  struct Seen {
    std::string content;
    System::Clock::time_point since;
  };
  bool dead(const std::string& name, const std::string& content);

  std::filesystem::path folder_;
  std::chrono::milliseconds lease_;
  System* system_;
  std::string reason_unguarded_;
  std::map<std::string, Seen> seen_;
};

/// Environment variable with the ticket of the claim under which a process works.
inline constexpr const char* kClaimVariable = "MODEWISE_CLAIM";

/// Throws cannot_create when the claim of kClaimVariable was taken over or released; no_input or io when it
/// cannot be read. No effect without that variable.
void require_own_claim();

/// The same for the claim of `ticket` (Claim::ticket).
void require_claim(System& system, const std::string& ticket);

}  // namespace modewise
