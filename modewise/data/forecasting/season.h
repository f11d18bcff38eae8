#pragma once
// Season detection for series without dates.

#include <cstdint>

#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/splits.h"

namespace modewise::data {

/// Season length in rows, common to the series; 1: none. For each length p that fits four times into the n
/// rows, the mean profile of the first half of the seasons predicts the second half, each season centred. The
/// result is the shortest p whose R² reaches three quarters of the largest one. An R² below .05 or below the
/// level of chance, (p + 4 √p) / n, gives 1. At most the last 5,000 rows of 16 series are used.
int64_t season_by_course(const Series& series, SplitRange rows);

}  // namespace modewise::data
