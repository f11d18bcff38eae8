#pragma once
// Covariates of a panel: columns known beyond the last row of each series (future covariates), date parts,
// and properties of each series (static covariates). Models read them as features of each window's lookback
// and horizon.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/forecasting/config.h"
#include "modewise/data/forecasting/tables/series_table.h"
#include "modewise/data/forecasting/windows.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {

struct Panel;
struct PanelScaler;
struct PanelWindow;

/// How a static covariate is encoded: one feature per category, or a standardized number.
struct StaticEncoding {
  std::string name;
  std::vector<std::string> categories;  // ascending; empty: a number
  double mean = 0, stddev = 1;

  int64_t features() const { return categories.empty() ? 1 : std::ssize(categories); }
};

/// Future covariates of a panel: rows [offsets[s], offsets[s + 1]) are those of series s, from its first row
/// on; they may continue beyond its last.
struct PanelKnown {
  std::vector<std::string> names;  // K
  std::vector<int64_t> offsets;    // S + 1
  at::Tensor values, observed;     // [R, K] float64 and bool
};

/// The columns of data.static_covariates. Errors: config for a missing column; data for a column of dates, or
/// one that varies within a series, with its id.
std::vector<StaticColumn> static_columns(const io::CsvTable& table, const TableIds& ids,
                                         const ForecastDataConfig& config);

/// Moves the columns of data.future_covariates from the values of `panel` to `panel.known`.
void take_known(Panel& panel, const ForecastDataConfig& config);

/// Reads the future covariates of the `horizon` rows after each series from the file `path`, by id and date.
/// Data error for a missing cell.
void take_future(Panel& panel, ForecastDataConfig config, const std::string& path, int64_t horizon);

/// Whether covariates are missing in rows of the series.
bool known_has_gaps(const Panel& panel);

/// Data error for the first future covariate that is missing in the `horizon` rows after a series.
void require_future_covariates(const Panel& panel, int64_t horizon);

std::vector<StaticEncoding> encodings_of(const std::vector<StaticColumn>& columns, const std::string& source);
nlohmann::ordered_json to_json(const std::vector<StaticEncoding>& encodings);
std::vector<StaticEncoding> encodings_from_json(const nlohmann::json& json);

/// Features of windows: covariates scaled, 0 where missing; with `flags` 1 if observed, else 0; date parts;
/// static covariates.
struct PanelCovariates {
  bool flags = false;
  at::Tensor calendar;                         // [clock rows, C] float32, or undefined
  std::vector<int64_t> calendar_begins = {0};  // S + 1 with phases: rows of `calendar` by series; else {0}
  at::Tensor statics;                          // [S, F] float32, or undefined

  /// Features K per step. `columns`: number of future covariates.
  int64_t features(int64_t columns) const;
};
/// `ahead`: rows beyond the clock. Data error for a category that is not in `encodings`.
PanelCovariates make_covariates(const Panel& panel, const ForecastDataConfig& config,
                                const std::vector<StaticEncoding>& encodings, bool flags, int64_t ahead);

/// Features [B, K, L + H] of windows by `scaler.covariates`; undefined if there are none.
at::Tensor gather_covariates(const Panel& panel, const PanelScaler& scaler, WindowShape shape,
                             std::span<const PanelWindow> windows);

}  // namespace modewise::data
