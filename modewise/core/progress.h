#pragma once
// Progress on stderr: a live bar on a terminal; lines otherwise, every ten seconds at first and every minute
// in the end; nothing when quiet.

#include <chrono>
#include <cstdint>
#include <optional>
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

  /// `note` follows the counts, e.g. "loss 0.312". `under_way` is the work on unfinished units, in units, and
  /// `earlier` the part of it that an earlier run had done; both only for the time left.
  void update(int64_t done, std::string_view note = {}, double under_way = 0, double earlier = 0);
  /// The line of the last update, `elapsed` seconds after the start.
  std::string line(double elapsed, std::string_view note = {}, double under_way = 0,
                   double earlier = 0) const;
  /// Clears the bar, so that a log line may be printed.
  void clear();
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_, unit_;
  int64_t total_, first_, done_;
  Clock::time_point start_, last_;
  bool terminal_, quiet_, shown_ = false;
};

/// "1:02:03", "4:05" or "12 s".
std::string duration_text(double seconds);

/// "3.4 steps/s", "12.0 runs/min" or "0.9 runs/h".
std::string rate_text(double per_second, std::string_view unit);

/// The fraction of the work that is done by the last line of progress in `log`: .25 after "train 5/20 steps";
/// nullopt without such a line.
std::optional<double> last_progress(std::string_view log, std::string_view unit);

}  // namespace modewise
