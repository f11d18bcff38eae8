#pragma once
// Forecasts of a panel: global models read gathered windows; local models (theta, ets, seasonal …) get the
// whole history of each series.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "modewise/data/forecasting/panel.h"
#include "modewise/metrics/panel_errors.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/report/csv_cell.h"
#include "modewise/tasks/forecasting/config.h"
#include "modewise/tasks/forecasting/evaluate.h"

namespace modewise::tasks {

/// A model of a panel with the options that it was made with.
struct PanelModel {
  models::Forecaster* model = nullptr;
  const ForecastConfig* config = nullptr;
  double weight = 1;  // in an ensemble
};

/// Outputs of local models, by model, series and origin: they are slow, and needed again for weights,
/// validation and intervals. Valid for one panel and scale. There may be millions of a few floats each.
class LocalOutputs {
 public:
  /// Copies the output of a window to `out`; false: it is not kept.
  bool copy(const models::Forecaster* model, const data::PanelWindow& window, std::span<float> out) const;
  void keep(const models::Forecaster* model, const data::PanelWindow& window, std::span<const float> output);

 private:
  struct Origins {
    std::unordered_map<uint64_t, uint64_t> places;  // series and origin in one word → position in `values`
    std::vector<float> values;
  };
  std::map<const models::Forecaster*, Origins> of_models_;
};

/// A forecaster with the panel that it reads.
struct PanelForecaster {
  models::Forecaster* model = nullptr;
  const ForecastConfig* config = nullptr;
  const data::Panel* panel = nullptr;
  data::PanelScaler scaler;
  std::vector<int64_t> ends;                // S: rows of each series that may be targets
  std::vector<PanelModel> members = {};     // of an ensemble: its forecast is their weighted sum
  std::shared_ptr<LocalOutputs> kept = {};  // null: nothing is kept

  /// Forecasts of windows, with their lookbacks and targets. Errors: data for a forecast that is not finite,
  /// with its series.
  ForecastBlock forecast(std::span<const data::PanelWindow> windows) const;
  /// The same for every `stride`-th of `windows`, in blocks of forecast.evaluation_batch. With several
  /// `workers` rank 0 visits them.
  void stream(std::span<const data::PanelWindow> windows, const BlockVisitor& visit, int64_t stride = 1,
              train::Workers& workers = train::single_process()) const;
  /// Adds the errors of a block's windows; `quantiles` [B, V, H, Q] scaled, or empty. Calls `visit` with the
  /// mean MASE of the variables of each window.
  void add_errors(metrics::PanelErrors& errors, std::span<const data::PanelWindow> windows,
                  const ForecastBlock& block, std::span<const float> quantiles, int64_t season,
                  const std::function<void(int64_t window, double mase)>& visit = {}) const;
  double to_units(float scaled, int64_t series, int64_t variable) const;
  metrics::NaiveErrors naive_errors(const data::PanelWindow& window, int64_t variable, int64_t season) const;
};

/// Rows of a season for the clock of a panel, by model.period or the time step; at least 1.
int64_t season_of(const ForecastConfig& config, const data::Panel& panel);

/// Errors of naive forecasts within the rows of a series before a window: the scale of MASE.
metrics::NaiveErrors naive_errors_before(const data::Panel& panel, const data::PanelWindow& window,
                                         int64_t variable, int64_t season);
/// Whether a variable in one of the windows has a MASE, that is a scale above 0.
bool has_mase(const data::Panel& panel, std::span<const data::PanelWindow> windows, int64_t season);

/// Splits of a panel by the config's horizon.
data::PanelSplits splits_of(const ForecastConfig& config, const data::Panel& panel);

/// Sets an open horizon and lookback by the clock and the lengths of the series. Returns the median number of
/// training rows. Data error if no series has any.
int64_t choose_panel_window(ForecastConfig& config, const data::Panel& panel);

/// Shape of the model of a panel: one mode, the variables of a series, with masks.
/// `features`: covariates per step.
models::ForecastShape panel_shape(const ForecastConfig& config, int64_t variables, int64_t features = 0);

/// Factor of the interval margins of a series with `rows` rows before the window: that of Student's t at 97.5
/// % for a mean and a standard deviation estimated from them, √(1 + 1/n) · t_{n−1} / t_∞.
double interval_widening(int64_t rows);

/// Forecasts beyond the last row of consecutive series, in units.
struct PanelForecast {
  int64_t first = 0, series = 0;  // series [first, first + series) of the panel
  int64_t steps = 0, variables = 0;
  std::vector<double> levels;
  std::vector<double> units;      // [series, V]: standard deviations, for the digits in CSV
  std::vector<double> values;     // [series, V, steps]
  std::vector<double> quantiles;  // [series, V, steps, Q]
};
using PanelForecastVisitor = std::function<void(const PanelForecast& part)>;
/// Visits the forecasts of all series, in blocks of forecast.evaluation_batch. `steps`: as many as the
/// horizon if 0.
void predict_panel(const PanelForecaster& forecaster, const CalibratedForecaster& calibrated, int64_t steps,
                   const PanelForecastVisitor& visit);
/// The forecasts of all series.
PanelForecast predict_panel(const PanelForecaster& forecaster, const CalibratedForecaster& calibrated,
                            int64_t steps);

/// Rows as those of to_csv, after the date of the first forecast row: the forecasts of a block of `windows`.
std::string windows_csv(const PanelForecaster& by, std::span<const data::PanelWindow> windows,
                        const ForecastBlock& block, std::span<const float> quantiles,
                        const std::vector<double>& levels, report::CsvReader reader);
/// Header of to_csv.
std::string csv_header(const std::vector<double>& levels, const data::Panel& panel, report::CsvReader reader);
/// One row per series and step: id cells, date in the table's format, each value with its quantiles.
std::string to_csv(const PanelForecast& forecast, const data::Panel& panel, report::CsvReader reader);
/// Arrays forecast [S, V, steps], levels, quantiles [S, V, steps, Q], times [S, steps] (seconds since 1970,
/// or rows), and names (ids, one per line, as bytes).
std::string to_npz(const PanelForecast& forecast, const data::Panel& panel);
nlohmann::ordered_json to_json(const PanelForecast& forecast, const data::Panel& panel);

}  // namespace modewise::tasks
