#pragma once
// Multivariate series as a tensor in memory: time first, then the modes (variables; stations × variables;
// latitude × longitude …), with a mask of observed cells.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/tables/series_ids.h"
#include "modewise/data/forecasting/time_axis.h"

namespace modewise::data {

struct SeriesMode {
  std::string name;                 // "variable", "station", "site" …
  std::vector<std::string> labels;  // of each position
  bool ordered = false;             // a grid axis has an order, variables have none

  /// "3 variables", "1 station".
  std::string text() const;
};

/// "2 stations × 3 variables".
std::string modes_text(const std::vector<SeriesMode>& modes);

/// Location of the cell (row, series; row-major over the modes) for errors: "f.csv:12: column 'OT'". CSV and
/// text files are read again to find the line.
using Place = std::function<std::string(int64_t row, int64_t series)>;

/// How a cell of one of two time columns is written.
struct TimeCell {
  io::DateStyle style;  // of a date, or of a clock time (a pattern)
  int64_t unit = 0;     // > 0: the number of a unit of so many seconds of the day, such as an hour
  int64_t first = 0;    // number of the first unit
};

/// Time columns of a table: one column of dates, columns year, month, day, hour …, or a column of dates and
/// one of clock times.
struct TimeColumns {
  std::vector<std::string> names;  // empty: the source has no dates
  bool parts = false;
  std::vector<TimeCell> cells;  // of two columns
};

/// Id and value columns of a long table (one row per series and date).
struct LongLayout {
  std::vector<std::string> id;  // series id columns
  SeriesIds series;             // their cells
  std::vector<std::string> values;
};

struct Series {
  /// [T, N_1…N_j] in the source's units, 0 where missing; j ≥ 1. float64, or float32 if the source has no
  /// number that float32 rounds (TensorCells reads both).
  at::Tensor values;
  at::Tensor observed;  // [T, N_1…N_j] bool; undefined when nothing is missing
  std::vector<SeriesMode> modes;
  TimeAxis time;
  std::string source;                        // path, or "lorenz96 (simulated)"
  std::vector<std::string> notes;            // changes made while reading: gaps filled, columns dropped …
  std::vector<std::string> warnings;         // ambiguities, and the option that decides each
  std::optional<bool> header;                // whether the first row of a CSV source is a header
  std::string decimal;                       // decimal mark that the numbers of a CSV source prove, or ""
  std::map<std::string, std::string> units;  // left out of the numbers of columns, by column: {"load": "kWh"}
  TimeColumns time_columns;
  Categories categories;                  // categories of the one-hot encoded columns
  std::optional<LongLayout> long_layout;  // set for long tables
  Place place;                            // undefined if the source is not a file
  /// Future covariates (future_covariates.h), [T', N_1…N_i, K] with T' ≥ T, i ≤ j: row r has the time of row
  /// r here, rows from T on cover the horizon. Null: none.
  std::shared_ptr<const Series> known;

  int64_t rows() const { return values.size(0); }
  /// N_1…N_j.
  std::vector<int64_t> shape() const;
  /// N_1 · … · N_j.
  int64_t series_count() const;
  int64_t missing_cells() const;
  /// The labels of series `index` (row-major over the modes), joined: "Dongsi / PM2.5".
  std::string series_name(int64_t index) const;
  /// Location of a cell: by `place`, else row and name.
  std::string where(int64_t row, int64_t index) const;
};

/// `series` restricted to these positions of its last mode, in this order.
Series with_positions(Series series, const std::vector<size_t>& positions);
/// The first `rows` rows of the series and of `known`.
Series first_rows(Series series, int64_t rows);
/// Removes the rows after the last observed value and returns their number. Data error if nothing is
/// observed.
int64_t end_at_last_value(Series& series);

/// The modes as JSON for a run folder: [{"name", "ordered", "labels"}, …].
nlohmann::json to_json(const std::vector<SeriesMode>& modes);
std::vector<SeriesMode> modes_from_json(const nlohmann::json& json, const std::string& source);

/// Data error naming the difference if the modes of `series` differ from those a run was trained on: order,
/// sizes, and labels missing, added or reordered.
void require_same_modes(const std::vector<SeriesMode>& run, const Series& series);

}  // namespace modewise::data
