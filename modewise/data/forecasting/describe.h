#pragma once
// Data summary of `modewise data show`.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/splits.h"
#include "modewise/data/forecasting/windows.h"

namespace modewise::data {

struct SeriesStatistics {
  std::string name;  // label, or labels joined
  int64_t missing = 0;
  double min = 0, mean = 0, max = 0, stddev = 0;  // of observed cells; NaN when there is none
};

/// Consecutive rows without an observed cell.
struct Gap {
  int64_t first_row = 0, rows = 0;
  std::string first_time, last_time;
};

struct SplitLine {
  std::string name;
  int64_t rows = 0, windows = 0;  // windows 0 when none fits
  std::string first_time, last_time;
};

struct Description {
  std::string source;
  int64_t rows = 0, cells = 0, missing_cells = 0;
  std::vector<SeriesMode> modes;
  bool dated = false;
  std::string first_time, last_time, frequency;
  std::vector<SeriesStatistics> variables;  // by position of the last mode, over all other modes
  std::vector<Gap> gaps;
  std::string split_rule, split_problem;  // problem: why there is no split table
  std::vector<SplitLine> splits;
  std::vector<std::string> notes;
};

/// `shape` gives the window counts of the split table.
Description describe(const Series& series, const ForecastDataConfig& config, WindowShape shape);
nlohmann::json to_json(const Description& description);

}  // namespace modewise::data
