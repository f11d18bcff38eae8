#pragma once
// Members of an ensemble on a panel, from the runs of model.ensemble.runs: local and global models together,
// with weights by the mean MASE of the validation windows.

#include <cstdint>
#include <vector>

#include "modewise/models/forecasting/ensemble.h"
#include "modewise/tasks/forecasting/panel_forecast.h"

namespace modewise::tasks {

class PanelRun;

/// Config of each member: the ensemble's with the member's lookback and model.
std::vector<ForecastConfig> member_configs(const ForecastConfig& config);

/// Loads the weights of the members from their runs; data error for a run that was trained on other rows.
void load_members(models::EnsembleForecaster& ensemble, const PanelRun& run);

/// Greedy weights of `members` by the mean MASE of windows (a subset of windows above 128 MB), or the best
/// member alone if it has a lower MASE by cross-validation over the series, in five parts. Equal weights
/// without windows.
std::vector<double> mase_weights(const PanelForecaster& forecaster, const std::vector<PanelModel>& members,
                                 std::span<const data::PanelWindow> windows, int64_t season, int64_t picks);

}  // namespace modewise::tasks
