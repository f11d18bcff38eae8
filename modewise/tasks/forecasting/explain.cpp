#include "modewise/tasks/forecasting/report.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "modewise/data/forecasting/future_covariates.h"
#include "modewise/tasks/forecasting/panel_run.h"
#include "modewise/tasks/forecasting/run.h"
#include "modewise/tasks/run/model_output.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

std::vector<double> values_of(const at::Tensor& values) {
  const at::Tensor plain = values.to(at::kDouble).contiguous();
  return {plain.const_data_ptr<double>(), plain.const_data_ptr<double>() + plain.numel()};
}

/// Mean of each series over the window's observed rows, [B, N…, 1].
at::Tensor window_means(const models::ForecastInput& input) {
  if (!input.observed.defined()) return input.past.mean(-1, true);
  const at::Tensor count = input.observed.sum(-1, true).clamp_min(1).to(input.past.scalar_type());
  return at::where(input.observed, input.past, at::zeros({}, input.past.options())).sum(-1, true) / count;
}

class Occlusion {
 public:
  Occlusion(models::Forecaster& model, const models::ForecastInput& input)
      : model_(model), input_(input), means_(window_means(input)), whole_(forecast(input)) {}

  /// |change| of the forecast [B, N_1 … N_j, H (, Q)] when [begin, end) of dimension `dim` of the past is
  /// occluded.
  at::Tensor change(int64_t dim, int64_t begin, int64_t end) const {
    at::Tensor past = input_.past.clone();
    const at::Tensor means = means_.expand_as(past);
    past.narrow(dim, begin, end - begin).copy_(means.narrow(dim, begin, end - begin));
    models::ForecastInput changed = input_;
    changed.past = past;
    return (forecast(changed) - whole_).abs();
  }

  /// |change| of the forecast when these future covariates become 0.
  at::Tensor known_change(const std::vector<int64_t>& numbers) const {
    models::ForecastInput changed = input_;
    changed.known = input_.known.clone();
    for (const int64_t number : numbers) changed.known.select(-2, number).zero_();
    return (forecast(changed) - whole_).abs();
  }

 private:
  at::Tensor forecast(const models::ForecastInput& input) const { return output_of(model_, input); }

  models::Forecaster& model_;
  const models::ForecastInput& input_;
  at::Tensor means_, whole_;
};

std::string group_name(const std::vector<std::string>& labels, int64_t begin, int64_t end) {
  const auto name = [&](int64_t i) {
    return labels.empty() ? std::to_string(i) : labels[static_cast<size_t>(i)];
  };
  return end - begin == 1 ? name(begin) : fmt::format("{} … {}", name(begin), name(end - 1));
}

/// Occlusion of a series mode: effect of its positions on the whole output, and on that of each position.
Influence of_series_mode(const Occlusion& occlusion, const data::SeriesMode& mode, int64_t dim,
                         int64_t maximum) {
  Influence out;
  out.mode = mode.name;
  const auto size = static_cast<int64_t>(mode.labels.size());
  const auto groups = place_groups(size, maximum);
  out.targets = mode.labels;
  out.matrix.resize(static_cast<size_t>(size) * groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto [begin, end] = groups[g];
    const at::Tensor change = occlusion.change(dim, begin, end);
    out.places.push_back(group_name(mode.labels, begin, end));
    out.effect.push_back(change.mean().item<double>());
    const std::vector<double> by_target = values_of(change.movedim(dim, 0).flatten(1).mean(1));
    for (size_t t = 0; t < by_target.size(); ++t) out.matrix[t * groups.size() + g] = by_target[t];
  }
  return out;
}

/// Occlusion of time segments as long as the patch stride.
Influence of_time(const Occlusion& occlusion, int64_t lookback, int64_t step, int64_t maximum, int64_t dim) {
  Influence out;
  out.mode = "time";
  const auto groups = place_groups((lookback + step - 1) / step, maximum);
  for (const auto& [first, last] : groups) {
    const int64_t begin = first * step, end = std::min(last * step, lookback);
    out.places.push_back(fmt::format("−{} … −{}", lookback - begin, lookback - end + 1));
    out.effect.push_back(occlusion.change(dim, begin, end).mean().item<double>());
  }
  return out;
}

/// Occlusion of future covariates and date parts; `labels` has one name per feature.
Influence of_known(const Occlusion& occlusion, const std::vector<std::string>& labels) {
  Influence out;
  out.mode = "future covariates";
  for (const std::string& label : labels) {
    if (std::find(out.places.begin(), out.places.end(), label) != out.places.end()) continue;
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < labels.size(); ++i)
      if (labels[i] == label) numbers.push_back(static_cast<int64_t>(i));
    out.places.push_back(label);
    out.effect.push_back(occlusion.known_change(numbers).mean().item<double>());
  }
  return out;
}

/// Windows that a model is explained on.
struct ExplainedWindows {
  const ForecastConfig& config;
  models::Forecaster& model;
  models::ForecastInput input;
  const std::vector<data::SeriesMode>& modes;
  std::string source;
  std::vector<std::string> names;         // one per window
  std::vector<std::string> known_labels;  // of the future covariates
};

Explanation explained(const ExplainedWindows& of, const Run& run, const ExplainOptions& options) {
  Explanation e;
  e.title = fmt::format("{} on {}", model_title(of.config), fs::path(of.source).filename().string());
  e.subtitle = "Attention and occlusion of a forecaster";
  e.facts = {{"run", run.folder().path().string()},
             {"samples", fmt::format("{} windows of the {} rows", of.names.size(), options.split)}};
  for (const data::SeriesMode& mode : of.modes) {
    e.mode_names.push_back(mode.name);
    e.labels.push_back(mode.labels);
  }
  e.mode_names.emplace_back("time");
  e.labels.emplace_back();
  const auto shown = std::min<size_t>(of.names.size(), static_cast<size_t>(options.singles));
  e.sample_names.assign(of.names.begin(), of.names.begin() + static_cast<std::ptrdiff_t>(shown));
  e.attention = attention_of(of.model, of.input);
  if (!e.attention.maps.empty()) e.combine = of.config.model.attention.combined();
  e.ranks = analysis::layer_ranks(e.attention);
  const Occlusion occlusion(of.model, of.input);
  int64_t dim = 1;
  for (const data::SeriesMode& mode : of.modes)
    e.influences.push_back(of_series_mode(occlusion, mode, dim++, options.places));
  const int64_t step =
      e.attention.maps.empty() && e.attention.full.empty() ? 1 : of.config.model.patch.stride;
  e.influences.push_back(of_time(occlusion, of.config.forecast.lookback, step, options.places, dim));
  if (of.input.known.defined()) e.influences.push_back(of_known(occlusion, of.known_labels));
  e.effect_unit = "the mean absolute change of the scaled forecast";
  e.removal = "its values become their mean over the window";
  if (of.input.known.defined()) e.removal += ", future covariates the mean of the training rows";
  return e;
}

Explanation explain_panel(const PanelRun& run, const ExplainOptions& options) {
  const PanelForecaster by = run.forecaster();
  const auto require_windows = [&](const PanelModel& one) {
    require(
        one.weight == 0 || !one.model->local(), ErrorKind::usage,
        "explain: '{}' forecasts each series from its whole history by a formula: it has no window and no "
        "attention; explain a run of a global model such as hot, patchtst or dlinear",
        one.config->model.name);
  };
  require_windows({by.model, by.config});
  for (const PanelModel& member : by.members) require_windows(member);
  const std::vector<data::PanelWindow> all = run.windows_of(options.split);
  std::vector<data::PanelWindow> windows;
  for (const int64_t i : spread_samples(std::ssize(all), options.samples))
    windows.push_back(all[static_cast<size_t>(i)]);
  const data::WindowBatch batch =
      data::gather_panel(run.panel, by.scaler, run.config.window(), windows, by.ends);
  const std::vector<data::SeriesMode> modes = {{"variable", run.panel.layout.values, false}};
  ExplainedWindows of{run.config, *run.model, model_input(batch), modes, run.panel.source, {}, {}};
  for (const data::PanelWindow& window : windows)
    of.names.push_back(fmt::format("series {} from row {}", run.panel.name(window.series), window.origin));
  return explained(of, run, options);
}

}  // namespace

Explanation explain_forecast(Run& opened, const ExplainOptions& options) {
  const at::NoGradGuard no_grad;
  if (const auto* panel = dynamic_cast<PanelRun*>(&opened)) return explain_panel(*panel, options);
  const auto& run = as<ForecastRun>(opened);
  const ForecastData& data = run.data;
  const data::WindowSet& set = run.windows(options.split);
  const std::vector<int64_t> windows = spread_samples(set.size(), options.samples);
  ExplainedWindows of{run.config,
                      *run.model,
                      model_input(data.source.gather(set, windows), data.row_offset),
                      data.series.modes,
                      data.series.source,
                      {},
                      {}};
  for (const int64_t window : windows) of.names.push_back(fmt::format("window {}", window));
  if (of.input.known.defined())
    of.known_labels =
        data::known_labels(run.config.data, data.series, run.summary.known && run.summary.known->missing);
  return explained(of, run, options);
}

}  // namespace modewise::tasks
