#pragma once
// Members of a forecasting ensemble, from the runs of model.ensemble.runs.

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

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

/// An earlier split of the same rows, and an ensemble of the members' runs on it.
struct EarlierSplit {
  ForecastData data;
  std::shared_ptr<models::Forecaster> model;
};
/// Splits 1 … model.ensemble.splits − 1 of a new ensemble, each earlier than the one before; none for other
/// models.
std::vector<EarlierSplit> load_earlier_splits(const ForecastConfig& config);

/// Fits the model to the rows; an ensemble with earlier splits to the rows of all splits
/// (weights_over_splits), whose weights `earlier` get, too. Returns these with their mean squared errors.
std::optional<models::SplitWeights> fit_model(models::Forecaster& model, const ForecastData& data,
                                              int64_t picks, std::vector<EarlierSplit>& earlier);

/// [{"run": folder, "weight": …}, …] of the members with a weight, each with its run on the first split; null
/// for other models.
nlohmann::ordered_json members_json(const models::Forecaster& model, const ForecastConfig& config);

/// "hot-small .4, ridge .6": weights of an ensemble by run names; "" for other models.
std::string members_text(const models::Forecaster& model, const ForecastConfig& config);

}  // namespace modewise::tasks
