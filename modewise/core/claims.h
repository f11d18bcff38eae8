#pragma once
// Pieces of work that several programs, also of several machines, share through one folder: who holds the
// claim on a piece does it. A claim is a lease. Its file is rewritten by the owner's heartbeat; one that has
// not changed for a while, by the clock of whoever looks (clocks of machines are never compared), is dead,
// and so is at once one whose process has ended on this machine. A dead claim is taken over. Whoever was
// thought dead and was only slow finds another's token in the file: every write to a run asks first
// (require_own_claim in OutputFile, MetricLog, EventFile and RunFolder::lock).

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace modewise {

/// A piece of work that is ours. Given back when it is destroyed.
class Claim {
 public:
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// A heartbeat; false when another has taken the piece over. Errors: io, cannot_create where it cannot be
  /// written; the claim is ours until its lease ends all the same, so the next one may be tried.
  bool heartbeat();
  /// The owner before was dead.
  bool taken_over() const { return taken_over_; }
  /// "TOKEN FILE", for the environment variable kClaimVariable of a process that does the work.
  std::string ticket() const;

 private:
  friend class Claims;
  Claim(std::filesystem::path folder, std::string name, std::string token, bool taken_over);

  std::filesystem::path folder_;
  std::string name_, token_;
  bool taken_over_ = false;
  int64_t heartbeats_ = 0;
};

class Claims {
 public:
  using Clock = std::chrono::steady_clock;

  /// The claims in `folder`, which is made; a claim without a heartbeat for `lease`, by the clock `now`, is
  /// dead.
  Claims(std::filesystem::path folder, std::chrono::milliseconds lease,
         std::function<Clock::time_point()> now = Clock::now);

  /// False where the file system has no locks: two programs that take a claim in the same moment may then
  /// both believe that it is theirs. `reason_unguarded` is what the system said.
  bool guarded() const { return reason_unguarded_.empty(); }
  const std::string& reason_unguarded() const { return reason_unguarded_; }
  std::chrono::milliseconds lease() const { return lease_; }
  /// The claim on `name` (a file name), unless it is another's and not known to be dead.
  std::unique_ptr<Claim> take(const std::string& name);
  /// Who holds it, as "host, process 12"; "" when nobody does.
  std::string owner(const std::string& name) const;

 private:
  struct Seen {
    std::string content;
    Clock::time_point since;
  };
  bool dead(const std::string& name, const std::string& content);

  std::filesystem::path folder_;
  std::chrono::milliseconds lease_;
  std::function<Clock::time_point()> now_;
  std::string reason_unguarded_;
  std::map<std::string, Seen> seen_;
};

/// Names the claim under which a process works.
inline constexpr const char* kClaimVariable = "MODEWISE_CLAIM";

/// Throws cannot_create when the claim of kClaimVariable is another's by now, or given back; no_input or io
/// when it cannot be read. Nothing without that variable.
void require_own_claim();

}  // namespace modewise
