#pragma once
// Progress on stderr: a live bar on a terminal, a line every ten seconds otherwise, nothing when quiet.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace modewise {

class Progress {
 public:
  /// `label` names the work, `total` is its size in `unit`s ("steps"), `done` the part that an earlier run
  /// had finished.
  Progress(std::string label, int64_t total, std::string unit, int64_t done = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `note` follows the counts, e.g. "loss 0.312".
  void update(int64_t done, std::string_view note = {});
  /// Clears the bar, so that a log line may be printed.
  void clear();
  void finish();

 private:
  std::string line(std::string_view note) const;

  using Clock = std::chrono::steady_clock;
  std::string label_, unit_;
  int64_t total_, first_, done_;
  Clock::time_point start_, last_;
  bool terminal_, quiet_, shown_ = false;
};

/// "1:02:03", "4:05" or "12 s".
std::string duration_text(double seconds);

}  // namespace modewise
