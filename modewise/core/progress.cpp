#include "modewise/core/progress.h"

#include <fmt/format.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "modewise/core/escaped_text.h"
#include "modewise/core/log.h"
#include "modewise/core/utf8.h"

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

/// `text` within one row of the terminal, since \x1b[K clears one row.
std::string within_row(std::string text) {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return text;
  size_t bytes = 0;
  for (size_t at = 0, characters = 0; at < text.size() && characters + 1 < size.ws_col; ++characters)
    bytes = at += std::max<size_t>(utf8_length(std::string_view(text).substr(at)), 1);
  text.resize(bytes);
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  if (!(seconds >= 0)) return "?";
  const auto s = static_cast<int64_t>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  if (s >= 60) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{} s", s);
}

std::string rate_text(double per_second, std::string_view unit) {
  if (per_second >= 1) return fmt::format("{:.1f} {}/s", per_second, unit);
  if (per_second * 60 >= 1) return fmt::format("{:.1f} {}/min", per_second * 60, unit);
  return fmt::format("{:.1f} {}/h", per_second * 3600, unit);
}

std::optional<double> last_progress(std::string_view log, std::string_view unit) {
  const std::string end = fmt::format(" {}", unit);
  for (size_t at = log.rfind(end); at != std::string_view::npos; at = log.rfind(end, at - 1)) {
    const std::string_view before = log.substr(0, at);
    const std::string_view counts = before.substr(before.find_last_of(" \r\n") + 1);
    const size_t slash = counts.find('/');
    int64_t done = 0, total = 0;
    const auto reads = [](std::string_view digits, int64_t& number) {
      const char* const last = digits.data() + digits.size();
      const auto [rest, error] = std::from_chars(digits.data(), last, number);
      return error == std::errc() && rest == last;
    };
    if (slash != std::string_view::npos && reads(counts.substr(0, slash), done) &&
        reads(counts.substr(slash + 1), total) && 0 <= done && done <= total && total > 0)
      return static_cast<double>(done) / static_cast<double>(total);
    if (at == 0) break;
  }
  return std::nullopt;
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

std::string Progress::line(double elapsed, std::string_view note, double under_way, double earlier) const {
  const double finished = static_cast<double>(done_ - first_) + under_way - earlier;
  const double speed = elapsed > 0 ? std::max(0.0, finished / elapsed) : 0;
  const double left = speed > 0 ? (static_cast<double>(total_ - done_) - under_way) / speed : -1;
  return fmt::format("{} {}/{} {}{}{}{}{}  {} left", label_, done_, total_, unit_, note.empty() ? "" : "  ",
                     note, speed > 0 ? "  " : "", speed > 0 ? rate_text(speed, unit_) : "",
                     duration_text(left));
}

void Progress::update(int64_t done, std::string_view note, double under_way, double earlier) {
  done_ = done;
  if (quiet_) return;
  const auto now = Clock::now();
  const double between = terminal_ ? 0.1 : std::clamp(seconds_between(start_, now) / 10, 10.0, 60.0);
  if (seconds_between(last_, now) < between) return;
  last_ = now;
  const std::string text = line(seconds_between(start_, now), note, under_way, earlier);
  if (!terminal_) {
    spdlog::info("{}", text);
    return;
  }
  constexpr int width = 24;
  const int filled = total_ > 0 ? static_cast<int>(width * std::min(done_, total_) / total_) : 0;
  std::string bar(static_cast<size_t>(filled), '#');
  bar.resize(width, '.');
  show("\r\x1b[K" + within_row(fmt::format("[{}] {}", bar, escape_text(text))));
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
