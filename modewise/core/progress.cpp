#include "modewise/core/progress.h"

#include <fmt/format.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>

#include "modewise/core/escaped_text.h"
#include "modewise/core/log.h"

namespace modewise {
namespace {

double seconds_between(std::chrono::steady_clock::time_point a, std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

/// Output to a broken pipe or a closed terminal is lost: no work ends for that.
void show(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string duration_text(double seconds) {
  if (!(seconds >= 0)) return "?";
  const auto s = static_cast<int64_t>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  if (s >= 60) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{} s", s);
}

Progress::Progress(std::string label, int64_t total, std::string unit, int64_t done)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      first_(done),
      done_(done),
      start_(Clock::now()),
      last_(start_),
      terminal_(stderr_is_terminal()),
      quiet_(spdlog::default_logger()->sinks().front()->level() > spdlog::level::info) {}

Progress::~Progress() {
  clear();
}

std::string Progress::line(std::string_view note) const {
  const double elapsed = seconds_between(start_, last_);
  const double speed = elapsed > 0 ? static_cast<double>(done_ - first_) / elapsed : 0;
  const double left = speed > 0 ? static_cast<double>(total_ - done_) / speed : -1;
  return fmt::format("{} {}/{} {}{}{}  {:.1f} {}/s  {} left", label_, done_, total_, unit_,
                     note.empty() ? "" : "  ", note, speed, unit_, duration_text(left));
}

void Progress::update(int64_t done, std::string_view note) {
  done_ = done;
  if (quiet_) return;
  const auto now = Clock::now();
  if (seconds_between(last_, now) < (terminal_ ? 0.1 : 10.0)) return;
  last_ = now;
  if (!terminal_) {
    spdlog::info("{}", line(note));
    return;
  }
  constexpr int width = 24;
  const int filled = total_ > 0 ? static_cast<int>(width * std::min(done_, total_) / total_) : 0;
  std::string bar(static_cast<size_t>(filled), '#');
  bar.resize(width, '.');
  show(fmt::format("\r\x1b[K[{}] {}", bar, escape_text(line(note))));
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  show("\r\x1b[K");
  shown_ = false;
}

void Progress::finish() {
  clear();
}

}  // namespace modewise
