#include "modewise/data/forecasting/calendar.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "modewise/core/error.h"

namespace modewise::data {
namespace {

/// Position in a cycle, and the length of the cycle.
struct Phase {
  double place, steps;
};

Phase phase_of(const std::string& part, int64_t seconds) {
  const io::CivilTime time = io::to_civil(seconds);
  if (part == "hour") return {time.hour + time.minute / 60.0 + time.second / 3600.0, 24};
  if (part == "day") return {time.day - 1.0, 31};
  if (part == "month") return {time.month - 1.0, 12};
  const int64_t days = (seconds - (time.hour * 3600 + time.minute * 60 + time.second)) / io::kSecondsOfDay;
  if (part == "yearday")
    return {static_cast<double>(days - io::to_seconds({time.year, 1, 1, 0, 0, 0}) / io::kSecondsOfDay), 366};
  return {static_cast<double>(((days + 3) % 7 + 7) % 7), 7};  // 1970-01-01 was a Thursday
}

std::vector<std::string> parts_of_step(const TimeAxis& time) {
  if (time.months >= 12) return {};
  if (time.months > 0) return {"month"};
  if (time.step >= 7 * io::kSecondsOfDay) return {"day", "yearday"};
  if (time.step >= io::kSecondsOfDay) return {"weekday", "day", "yearday"};
  return {"hour", "weekday", "day", "yearday"};
}

}  // namespace

std::vector<std::string> calendar_parts(const ForecastDataConfig& config, const TimeAxis& time) {
  if (config.calendar.empty()) return {};
  require(time.dated, ErrorKind::data,
          "data.calendar needs dates, but the rows have none: data.start and data.step date "
          "them");
  std::vector<std::string> parts;
  for (const std::string& asked : config.calendar)
    for (const std::string& part : asked == "auto" ? parts_of_step(time) : std::vector<std::string>{asked})
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
  return parts;
}

int64_t calendar_width(const ForecastDataConfig& config, const TimeAxis& time) {
  return std::ssize(calendar_parts(config, time)) * (config.calendar_code == "cyclic" ? 2 : 1);
}

at::Tensor calendar_codes(const ForecastDataConfig& config, const TimeAxis& time, int64_t rows) {
  const std::vector<std::string> parts = calendar_parts(config, time);
  const bool cyclic = config.calendar_code == "cyclic";
  at::Tensor codes = at::empty({rows, calendar_width(config, time)}, at::kFloat);
  float* out = codes.mutable_data_ptr<float>();
  for (int64_t row = 0; row < rows; ++row)
    for (const std::string& part : parts) {
      const Phase phase = phase_of(part, time.at(row));
      const double angle = 2 * std::numbers::pi * phase.place / phase.steps;
      if (cyclic) *out++ = static_cast<float>(std::sin(angle));
      *out++ = static_cast<float>(cyclic ? std::cos(angle) : phase.place / (phase.steps - 1) - 0.5);
    }
  return codes;
}

}  // namespace modewise::data
