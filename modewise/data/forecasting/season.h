#pragma once
// The season of series that have no dates.

#include <cstdint>

#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/splits.h"

namespace modewise::data {

/// Rows of the season that these rows of the series share; 1 where none shows. Of all lengths p that fit four
/// times into the n rows, that whose mean course in the first half of the seasons tells most of the variance
/// of those in the second half, each season less its mean; the shortest that tells three quarters of that. A
/// share below .05, or below (p + 4 √p) / n, which chance reaches, is none. Long and many series are looked
/// at in part: the last 5,000 rows, 16 series.
int64_t season_by_course(const Series& series, SplitRange rows);

}  // namespace modewise::data
