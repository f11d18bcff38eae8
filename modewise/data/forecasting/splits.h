#pragma once
// Train/validation/test split by rows.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/series.h"

namespace modewise::data {

struct SplitRange {
  int64_t begin = 0,
          end = 0;  // rows [begin, end); lookbacks of validation and test begin before it
  int64_t rows() const { return end - begin; }
};

struct Splits {
  SplitRange train, validation, test;
  std::string rule;         // "ratio 0.7 / 0.1 / 0.2", for tables
  std::string source = {};  // of the series, for errors
};

/// Splits as in TSLib. `ratio`: train int(0.7 T), test int(0.2 T), validation the rest between them. `solar`
/// (iTransformer's Dataset_Solar): train int(0.7 T), validation int(0.1 T), test the rest. `ett_hour` and
/// `ett_minute`: 12, 4 and 4 months of 30 days; later rows are unused. `dates`: validation and test begin at
/// the given dates. `auto` is `ratio`. Errors if a split would be empty or exceed the data; a test fraction
/// of 0 gives no test rows.
Splits make_splits(const ForecastDataConfig& config, const Series& series);

}  // namespace modewise::data
