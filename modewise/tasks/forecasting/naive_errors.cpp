#include "modewise/tasks/forecasting/naive_errors.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "modewise/tasks/forecasting/choose_defaults.h"
#include "modewise/tasks/forecasting/task.h"

namespace modewise::tasks {

NaiveForecast::NaiveForecast(const models::ForecastShape& shape, int64_t season) {
  models::ForecasterConfig config;
  config.use_model("seasonal");
  config.period = season;
  models::ForecastShape flat;
  flat.series = {shape.series_count()};
  flat.lookback = shape.lookback;
  flat.horizon = shape.horizon;
  flat.missing = shape.missing;
  model_ = models::make_forecaster(config, flat, 0);
}

at::Tensor NaiveForecast::operator()(const ForecastBlock& block) const {
  const at::NoGradGuard no_grad;
  return model_->forward({block.past, block.past_observed, block.first_step}).contiguous();
}

NaiveForecastErrors::NaiveForecastErrors(const ForecastConfig& config, const ForecastData& data,
                                         const models::ForecastShape& shape) {
  std::vector<int64_t> seasons = {1};
  if (const int64_t season = season_of(data.series.time); season > 1 && season <= shape.lookback)
    seasons.push_back(season);
  for (const int64_t season : seasons)
    rows_.push_back({season, NaiveForecast(shape, season), make_errors(config, data.scaler, {})});
}

void NaiveForecastErrors::add(const ForecastBlock& block) {
  for (Row& row : rows_)
    row.errors.add(floats(row.forecast(block)), floats(block.future), flags(block.future_observed));
}

nlohmann::ordered_json NaiveForecastErrors::json() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Row& row : rows_)
    json.push_back({{"name", row.season == 1 ? "repeat" : "seasonal"},
                    {"season", row.season},
                    {"scaled", to_json(row.errors.total())},
                    {"units", to_json(row.errors.total(metrics::ForecastErrors::Scale::units))}});
  return json;
}

std::string naive_is_better(const nlohmann::ordered_json& evaluation, bool trained) {
  const auto of = [](const nlohmann::ordered_json& errors, const char* key) {
    return errors.at("scaled").at(key).get<double>();
  };
  for (const nlohmann::ordered_json& naive : evaluation.at("naive")) {
    if (!(of(naive, "mse") < of(evaluation, "mse") && of(naive, "mae") < of(evaluation, "mae"))) continue;
    const auto season = naive.at("season").get<int64_t>();
    return fmt::format(
        "{} has lower {} errors (MSE {:.4f}, MAE {:.4f}) than the model ({:.4f}, {:.4f}): {}--model auto "
        "may help",
        season == 1 ? "repeating the last value" : fmt::format("repeating the last {} rows", season),
        evaluation.at("split").get<std::string>(), of(naive, "mse"), of(naive, "mae"), of(evaluation, "mse"),
        of(evaluation, "mae"), trained ? "longer training or " : "");
  }
  return "";
}

}  // namespace modewise::tasks
