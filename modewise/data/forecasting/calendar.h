#pragma once
// Calendar features: date parts as future covariates.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/time_axis.h"

namespace modewise::data {

/// The date parts of `config.calendar` without duplicates: hour (0 to 24, with its minutes), weekday (Monday
/// first), day of the month, yearday, month. `auto`: the parts that vary at the step of `time` and are not
/// finer than it: all but the month for steps below a day, no hour for days, day and yearday for weeks, the
/// month for months, none for years. Data error if `time` has no dates.
std::vector<std::string> calendar_parts(const ForecastDataConfig& config, const TimeAxis& time);

/// Features per row: two per date part (`cyclic`: sine and cosine), or one (`scaled`).
int64_t calendar_width(const ForecastDataConfig& config, const TimeAxis& time);

/// Calendar features of rows [0, rows) of `time`, also beyond its end, [rows, calendar_width] float32. A part
/// at position a of a cycle of n (hour with minutes of 24, day − 1 of 31, yearday − 1 of 366 …) becomes
/// sin(2πa/n), cos(2πa/n), or a/(n − 1) − 1/2.
at::Tensor calendar_codes(const ForecastDataConfig& config, const TimeAxis& time, int64_t rows);

}  // namespace modewise::data
