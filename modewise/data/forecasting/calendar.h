#pragma once
// Parts of the date as inputs that are known ahead.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/time_axis.h"

namespace modewise::data {

/// The parts that `config.calendar` names, each once: hour (0 to 24, with its minutes), weekday (Monday
/// first), day of the month, yearday, month. `auto`: the parts that take several values at the step of `time`
/// and are no finer than it: with steps below a day all but the month, of days without the hour, of weeks day
/// and yearday, of months the month, of years none. Data error where `time` has no dates.
std::vector<std::string> calendar_parts(const ForecastDataConfig& config, const TimeAxis& time);

/// Numbers a row: two a part as sine and cosine (`cyclic`), or one (`scaled`).
int64_t calendar_width(const ForecastDataConfig& config, const TimeAxis& time);

/// Rows [0, rows) of `time`, which may lie behind its end, [rows, calendar_width] float32. A part that is a
/// of n steps since its cycle began (hour and its minutes of 24, day − 1 of 31, yearday − 1 of 366 …) becomes
/// sin(2πa/n), cos(2πa/n), or a/(n − 1) − 1/2.
at::Tensor calendar_codes(const ForecastDataConfig& config, const TimeAxis& time, int64_t rows);

}  // namespace modewise::data
