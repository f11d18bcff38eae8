#include "modewise/tasks/forecasting/panel_members.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/tasks/forecasting/panel_run.h"
#include "modewise/tasks/forecasting/spec.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::tasks {
namespace {

constexpr size_t kParts = 5;  // of the series, for cross-validation
constexpr int64_t kMaxErrors = (int64_t{128} << 20) / static_cast<int64_t>(sizeof(float));

/// Scaled errors of one member such that Σ |error| is its sum of MASE, by parts of the series.
struct ScaledErrors {
  std::vector<float> parts[kParts];
};

ScaledErrors scaled_errors(const PanelForecaster& by, std::span<const data::PanelWindow> windows,
                           int64_t season) {
  ScaledErrors errors;
  const int64_t width = by.panel->variables(), horizon = by.config->window().horizon;
  by.stream(windows, [&](const ForecastBlock& block) {
    const std::span<const float> forecasts = floats(block.forecast), truth = floats(block.future);
    const std::span<const bool> observed = flags(block.future_observed);
    for (int64_t i = 0; i < block.windows(); ++i) {
      const data::PanelWindow& window = windows[static_cast<size_t>(block.first_window + i)];
      for (int64_t v = 0; v < width; ++v) {
        const auto first = static_cast<size_t>((i * width + v) * horizon), steps = static_cast<size_t>(horizon);
        const auto seen = std::ranges::count(observed.subspan(first, steps), true);
        const double naive = by.naive_errors(window, v, season).seasonal;
        if (seen == 0 || !(naive > 0)) continue;  // it has no MASE
        const double scale = by.scaler.stddev[static_cast<size_t>(window.series * width + v)] / naive /
                             static_cast<double>(seen);
        for (size_t at = first; at < first + steps; ++at)
          errors.parts[static_cast<size_t>(window.series) % kParts].push_back(
              observed[at] ? static_cast<float>((forecasts[at] - truth[at]) * scale) : 0);
      }
    }
  });
  return errors;
}

/// Σ |wᵀ errors|.
double error_of(const std::vector<double>& weights, const at::Tensor& errors) {
  const at::Tensor all = errors.contiguous();
  const float* e = all.const_data_ptr<float>();
  double sum = 0;
  for (int64_t i = 0; i < all.size(1); ++i) {
    double mixed = 0;
    for (size_t m = 0; m < weights.size(); ++m)
      mixed += weights[m] * static_cast<double>(e[static_cast<int64_t>(m) * all.size(1) + i]);
    sum += std::abs(mixed);
  }
  return sum;
}

/// Weight 1 for the member with the lowest error.
std::vector<double> best_alone(const at::Tensor& errors) {
  const auto members = static_cast<size_t>(errors.size(0));
  std::vector<double> best, one(members);
  double minimum = std::numeric_limits<double>::infinity();
  for (size_t m = 0; m < members; ++m) {
    std::fill(one.begin(), one.end(), 0.0);
    one[m] = 1;
    const double error = error_of(one, errors);
    if (!best.empty() && !(error < minimum)) continue;
    minimum = error;
    best = one;
  }
  return best;
}

}  // namespace

std::vector<ForecastConfig> member_configs(const ForecastConfig& config) {
  std::vector<ForecastConfig> all;
  for (const std::string& text : config.model.ensemble.members) {
    const auto member = models::EnsembleMember::from_toml(text, "model.ensemble.members");
    ForecastConfig& one = all.emplace_back(config);
    one.forecast.lookback = member.lookback;
    one.model = member.model;
  }
  return all;
}

void load_members(models::EnsembleForecaster& ensemble, const PanelRun& run) {
  const models::EnsembleConfig& options = run.config.model.ensemble;
  require(options.splits == 1, ErrorKind::config,
          "model.ensemble.splits = {}: the runs of a panel have one split", options.splits);
  require(std::ssize(options.runs) == ensemble.members(), ErrorKind::config,
          "model.ensemble: {} runs, but {} members; set only runs for a new ensemble", options.runs.size(),
          ensemble.members());
  for (int64_t i = 0; i < ensemble.members(); ++i) {
    const std::string& path = options.runs[static_cast<size_t>(i)];
    const auto member = open_run_as<PanelRun>(forecasting_spec, path);
    require(member->training == run.training, ErrorKind::data,
            "{} was trained on other rows than the training rows of {}", path, run.panel.source);
    train::copy_into(train::module_tensors(ensemble.member(i)), train::module_tensors(*member->model));
  }
}

std::vector<double> mase_weights(const PanelForecaster& forecaster, const std::vector<PanelModel>& members,
                                 std::span<const data::PanelWindow> windows, int64_t season, int64_t picks) {
  if (windows.empty() || members.size() == 1)
    return std::vector<double>(members.size(), 1 / static_cast<double>(members.size()));
  const int64_t each = forecaster.panel->variables() * forecaster.config->window().horizon;
  const int64_t most = std::max<int64_t>(kMaxErrors / (each * std::ssize(members)), 1);
  const int64_t stride = (std::ssize(windows) + most - 1) / most;
  std::vector<data::PanelWindow> used;
  for (size_t i = 0; i < windows.size(); i += static_cast<size_t>(stride)) used.push_back(windows[i]);
  std::vector<at::Tensor> rows[kParts];  // [1, n] of each member
  for (const PanelModel& member : members) {
    PanelForecaster alone = forecaster;
    alone.members = {{member.model, member.config, 1}};
    ScaledErrors errors = scaled_errors(alone, used, season);
    for (size_t p = 0; p < kParts; ++p)
      rows[p].push_back(
          at::from_blob(errors.parts[p].data(), {1, std::ssize(errors.parts[p])}, at::kFloat).clone());
  }
  std::vector<at::Tensor> parts;  // [M, n]
  for (const auto& part : rows)
    if (part.front().size(1) > 0) parts.push_back(at::cat(part));
  if (parts.empty()) return std::vector<double>(members.size(), 1 / static_cast<double>(members.size()));
  double mixed = 0, single = 0;
  for (size_t p = 0; p < parts.size() && parts.size() > 1; ++p) {
    std::vector<at::Tensor> others;
    for (size_t other = 0; other < parts.size(); ++other)
      if (other != p) others.push_back(parts[other]);
    const at::Tensor all = at::cat(others, 1);
    mixed += error_of(models::greedy_absolute_weights(all, picks), parts[p]);
    single += error_of(best_alone(all), parts[p]);
  }
  const at::Tensor all = at::cat(parts, 1);
  return mixed > single ? best_alone(all) : models::greedy_absolute_weights(all, picks);
}

}  // namespace modewise::tasks
