#pragma once
// Windows whose lookback has no value of a series: their forecasts cannot follow it.

#include <cstdint>
#include <span>
#include <string>

#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/windows.h"
#include "modewise/tasks/forecasting/data.h"

namespace modewise::tasks {

/// A sentence that names the series without a value in the last `lookback` rows, with the time of the last
/// one;
/// "": none. `left_out`: series that are not forecast.
std::string empty_end_text(const data::Series& series, std::span<const int64_t> left_out, int64_t lookback);

/// Warns of the windows of a split whose lookback has no value of a series, with their number.
void warn_of_empty_lookbacks(const ForecastData& data, const data::WindowSet& windows,
                             const std::string& split);

}  // namespace modewise::tasks
