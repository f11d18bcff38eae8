#pragma once
// Panels: many independent series of one long table (unique_id, ds, y), each with its own start, end and
// gaps. The rows of a series lie together, in time order; the series follow one another.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/panel_covariates.h"
#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/tables/series_table.h"
#include "modewise/data/forecasting/windows.h"

namespace modewise::data {

struct Panel {
  LongLayout layout;                // id columns, id cells of each series, value columns
  std::vector<int64_t> offsets;     // S + 1: rows [offsets[s], offsets[s + 1]) are those of series s
  std::vector<int64_t> starts;      // S: steps from row 0 of the clock to the first row of each series
  TimeAxis clock;                   // earliest start, step and date style; its length covers all series
  std::vector<SeriesPhase> phases;  // S: series whose dates are not those of the clock; empty: all are
  int64_t row_offset = 0;           // rows from the first time of a model's training panel to row 0 of clock
  at::Tensor values;                // [R, V] float64 in the table's units, 0 where missing
  at::Tensor observed;              // [R, V] bool; undefined when nothing is missing
  PanelKnown known;                 // future covariates
  std::vector<StaticColumn> statics;  // static covariates
  TimeColumns time_columns;
  std::string source;
  std::vector<std::string> notes, warnings;
  std::optional<bool> header;
  std::map<std::string, std::string> units;  // as in Series

  int64_t series() const { return std::ssize(starts); }
  int64_t variables() const { return std::ssize(layout.values); }
  int64_t rows(int64_t s) const {
    return offsets[static_cast<size_t>(s) + 1] - offsets[static_cast<size_t>(s)];
  }
  /// The id of series `s`; several id columns are joined by "/".
  std::string name(int64_t s) const;
  /// Time of row `row` of series `s`, also beyond its end: seconds, a number, or its index.
  int64_t time_at(int64_t s, int64_t row) const;
  /// `time_at` as the table writes it.
  std::string time_text(int64_t s, int64_t row) const;
  /// The row of series `s` at a time of it, or -1.
  int64_t row_at(int64_t s, int64_t time) const;
  /// Row of the clock of row `row` of series `s`.
  int64_t clock_row(int64_t s, int64_t row) const { return starts[static_cast<size_t>(s)] + row; }
};

/// "'a', 'b' …": the first five names.
std::string first_names(const std::vector<std::string>& names);

/// Whether a table is read as a panel.
struct PanelChoice {
  bool panel = false;
  std::string reason;                // a sentence about an automatic choice for a long table, else ""
  std::optional<SeriesTable> table;  // of a panel, if the choice read it
};

/// The choice of data.panel; if that is auto, a panel is a long table, with the ids of data.id or of a usual
/// name, of more than 500 series, or with a series that has fewer than 90 % of the dates.
PanelChoice choose_panel(const ForecastDataConfig& config);

/// Loads a panel. All series have the same time step (lay_series); their gaps are missing rows. Data errors
/// with file and line, or the id: not a long table, an empty date, a second row for a date, mixed time steps,
/// a series whose gaps exceed its rows. `table`: that of choose_panel for `config`, which is not read again.
Panel load_panel(const ForecastDataConfig& config, std::optional<SeriesTable> table = {});

/// `panel` with the first rows of each series alone, as many as `rows`.
Panel head_rows(const Panel& panel, std::span<const int64_t> rows);

/// Removes the rows of each series after its last observed value and returns their number. Data error for
/// series without a value.
int64_t end_at_last_values(Panel& panel);

/// Origins of the windows of a panel: row `origin` of series `series` is the first to be forecast.
struct PanelWindow {
  int64_t series = 0, origin = 0;
};

/// Splits of a panel by windows: the last `test_windows` · H rows of each series are its test rows (−1:
/// `windows` · H), `windows` · H before them its validation rows, the others its training rows. A series that
/// is too short for all of them has no validation windows, then no test windows.
struct PanelSplits {
  std::vector<int64_t> train_rows;  // S: training rows of each series, from its first
  std::vector<PanelWindow> train;   // series with training windows; their origins are drawn (draw_origin)
  std::vector<PanelWindow> validation, test;
  std::string rule;
};
PanelSplits split_panel(const Panel& panel, int64_t horizon, int64_t windows, int64_t test_windows = -1);

/// Origin of a training window of a series of `rows` training rows, drawn from the key: at least half a
/// lookback after its first row, and a horizon before its last, if it is long enough.
int64_t draw_origin(int64_t rows, WindowShape shape, uint64_t seed, uint64_t batch, uint64_t series);

/// Mean and standard deviation of each series and variable over its first rows, [S, V], and of each future
/// covariate, [S, K]: 1 for a constant one; covariates of 0 and 1 are not scaled. `rows`: how many rows of
/// each series.
struct PanelScaler {
  std::vector<double> mean, stddev, known_mean, known_stddev;
  std::shared_ptr<const PanelCovariates> covariates = {};  // of the windows; null: none
  static PanelScaler fit(const Panel& panel, std::span<const int64_t> rows);
};

/// Gathers windows, scaled: past rows before a series begins are missing, and future rows from `ends[series]`
/// on. Masks are always defined. first_step counts rows of the training panel's clock. With
/// `scaler.covariates` their features are added.
WindowBatch gather_panel(const Panel& panel, const PanelScaler& scaler, WindowShape shape,
                         std::span<const PanelWindow> windows, std::span<const int64_t> ends);

/// Content hash of ids, starts, values and mask.
std::string hash_of(const Panel& panel);

}  // namespace modewise::data
