#pragma once
// Members of a forecasting ensemble, from the runs of model.ensemble.runs.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "modewise/models/forecasting/ensemble.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/tasks/forecasting/config.h"
#include "modewise/tasks/forecasting/data.h"

namespace modewise::tasks {

/// For an ensemble with runs: sets its members to their models, the longest lookback, their horizon, and
/// train.epochs to 0. Errors: usage without runs; config if horizons, losses or quantiles differ or a run is
/// an ensemble; those of RunFolder::open.
void take_members(ForecastConfig& config);

/// data.panel of a new ensemble: that of its first run; of other models their own.
std::string panel_of(const ForecastConfig& config);

/// Loads the weights of an ensemble's members from their runs; data error for a run that was trained on other
/// rows. Other models are unchanged.
void load_members(models::Forecaster& model, const ForecastConfig& config, const ForecastData& data);

/// Fits the model to the rows; an ensemble with several splits to the rows of all splits
/// (weights_over_splits). Returns the selected ensemble weights with mean squared errors.
std::optional<models::SplitWeights> fit_model(models::Forecaster& model, const ForecastConfig& config,
                                              const ForecastData& data);

/// [{"run": folder, "weight": …}, …] of the members with a weight, each with its run on the first split; null
/// for other models.
nlohmann::ordered_json members_json(const models::Forecaster& model, const ForecastConfig& config);

/// "hot-small .4, ridge .6": weights of an ensemble by run names; "" for other models.
std::string members_text(const models::Forecaster& model, const ForecastConfig& config);

}  // namespace modewise::tasks
