#pragma once
// The members of an ensemble from the runs that model.ensemble.runs names.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "modewise/models/forecasting/ensemble.h"
#include "modewise/models/forecasting/forecaster.h"
#include "modewise/tasks/forecasting/config.h"
#include "modewise/tasks/forecasting/data.h"

namespace modewise::tasks {

/// Of an ensemble with runs: sets its members to their models, the longest of their lookbacks, their horizon,
/// and no training. Errors: usage where no run is named, config where horizons, losses or quantiles differ or
/// a run is an ensemble itself, those of RunFolder::open.
void take_members(ForecastConfig& config);

/// Gives an ensemble's members the weights of their runs; data error for one that was trained on other rows.
/// Other models stay.
void load_members(models::Forecaster& model, const ForecastConfig& config, const ForecastData& data);

/// Fits the model to the rows, an ensemble with several splits to those of all of them (weights_over_splits).
/// What such an ensemble chose is returned, with mean squared errors.
std::optional<models::SplitWeights> fit_model(models::Forecaster& model, const ForecastConfig& config,
                                              const ForecastData& data);

/// [{"run": folder, "weight": …}, …] of the members that have a weight, each by its run on the first split;
/// null for other models.
nlohmann::ordered_json members_json(const models::Forecaster& model, const ForecastConfig& config);

/// "hot-small .4, ridge .6" of an ensemble, by the names of their runs; "" for other models.
std::string members_text(const models::Forecaster& model, const ForecastConfig& config);

}  // namespace modewise::tasks
