#pragma once
// A multivariate series of any order in memory: time first, then the modes (variables; stations × variables;
// latitude × longitude …), with a mask of the cells that were observed.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/time_axis.h"

namespace modewise::data {

struct SeriesMode {
  std::string name;                 // "variable", "station", "site" …
  std::vector<std::string> labels;  // one a position
  bool ordered = false;             // a grid axis has an order, variables have none
};

/// Where the cell of a row and a series (row-major over the modes) stands, for errors: "f.csv:12: column
/// 'OT'". A CSV or text file is read again to find the line.
using Place = std::function<std::string(int64_t row, int64_t series)>;

/// The columns of a table that say when its rows were: one of dates, or year, month, day, hour … as far as
/// they go.
struct TimeColumns {
  std::vector<std::string> names;  // none: the source has no dates of its own
  bool parts = false;
};

/// The other columns of a long table: a row a series and date.
struct LongLayout {
  std::vector<std::string> id;                   // the columns that tell series apart
  std::vector<std::vector<std::string>> series;  // what stands in them, of each series
  std::vector<std::string> values;
};

struct Series {
  at::Tensor values;    // [T, N_1…N_j] float64 in the source's units, 0 where missing; j ≥ 1
  at::Tensor observed;  // [T, N_1…N_j] bool; undefined when nothing is missing
  std::vector<SeriesMode> modes;
  TimeAxis time;
  std::string source;               // path, or "lorenz96 (simulated)"
  std::vector<std::string> notes;   // what reading changed: gaps filled, columns dropped …
  std::vector<std::string> warnings;  // what could be meant otherwise, and the option that says so
  std::optional<bool> header;       // whether the first row of a CSV source was taken as names
  TimeColumns time_columns;
  Categories categories;                  // the words of columns that were taken as 0 and 1
  std::optional<LongLayout> long_layout;  // where the source was a long table
  Place place;                            // undefined where the source is no file
  /// Columns that are known ahead (known.h), [T', N_1…N_i, K] with T' ≥ T, i ≤ j: row r is of the time of row
  /// r here, rows from T on are the plan for what is to be forecast. Null: none.
  std::shared_ptr<const Series> known;

  int64_t rows() const { return values.size(0); }
  /// N_1…N_j.
  std::vector<int64_t> shape() const;
  /// N_1 · … · N_j.
  int64_t series_count() const;
  int64_t missing_cells() const;
  /// The labels of series `index` (row-major over the modes), joined: "Dongsi / PM2.5".
  std::string series_name(int64_t index) const;
  /// Where a cell stands: by `place`, else by row and name.
  std::string where(int64_t row, int64_t index) const;
};

/// `series` with these positions of its last mode alone, in this order.
Series with_positions(Series series, const std::vector<size_t>& positions);
/// The first `rows` rows, without what `known` holds of the others.
Series first_rows(Series series, int64_t rows);

/// The modes as a run folder keeps them: [{"name", "ordered", "labels"}, …].
nlohmann::json to_json(const std::vector<SeriesMode>& modes);
std::vector<SeriesMode> modes_from_json(const nlohmann::json& json, const std::string& source);

/// Throws a data error that names what differs when `series` does not have the modes a run was trained on:
/// order, sizes, and labels missing, added or in another order.
void require_same_modes(const std::vector<SeriesMode>& run, const Series& series);

}  // namespace modewise::data
