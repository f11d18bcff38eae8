#include "modewise/tasks/forecasting/panel_run.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/progress.h"
#include "modewise/data/forecasting/calendar.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/report/table.h"
#include "modewise/tasks/forecasting/choose_defaults.h"
#include "modewise/tasks/forecasting/task.h"
#include "modewise/tasks/run/run_figures.h"
#include "modewise/tasks/run/run_report.h"
#include "modewise/tasks/run/test_split.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

constexpr size_t kShownSeries = 5;  // best, median and worst series of an evaluation

/// Training windows drawn from each series, and validation by mean MASE.
class PanelTask final : public WindowTask {
 public:
  PanelTask(const PanelRun& run, models::Forecaster& model)
      : WindowTask(run.config, model),
        run_(run),
        season_(season_of(run.config, run.panel)),
        forecaster_(run.forecaster(run.panel, run.splits.train_rows)),
        training_ends_(run.splits.train_rows) {}

  int64_t training_samples() const override { return std::ssize(run_.splits.train); }
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override {
    return load_batch(samples, 0);
  }
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t batch) const override {
    std::vector<data::PanelWindow> windows;
    for (const int64_t sample : samples) {
      data::PanelWindow window = run_.splits.train[static_cast<size_t>(sample)];
      window.origin = data::draw_origin(training_ends_[static_cast<size_t>(window.series)], config_.window(),
                                        static_cast<uint64_t>(config_.train.seed),
                                        static_cast<uint64_t>(batch), static_cast<uint64_t>(window.series));
      windows.push_back(window);
    }
    return batch_of(
        data::gather_panel(run_.panel, forecaster_.scaler, config_.window(), windows, training_ends_));
  }

  at::Tensor sums(const train::Share& share) override {
    metrics::PanelErrors errors = no_errors();
    const std::span<const data::PanelWindow> all = run_.splits.validation;
    const int64_t first = share.first(std::ssize(all)), count = share.last(std::ssize(all)) - first;
    const auto windows = all.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
    forecaster_.stream(windows, [&](const ForecastBlock& block) {
      forecaster_.add_errors(
          errors,
          windows.subspan(static_cast<size_t>(block.first_window), static_cast<size_t>(block.windows())),
          block, block.quantiles.defined() ? floats(block.quantiles) : std::span<const float>{}, season_);
    });
    return at::tensor(errors.sums());
  }
  train::Metrics metrics_of(const at::Tensor& sums) override {
    metrics::PanelErrors errors = no_errors();
    errors.set_sums({sums.const_data_ptr<double>(), static_cast<size_t>(sums.numel())});
    train::Metrics metrics{{"val_mase", errors.mase()}, {"val_mse", errors.mse()}, {"val_mae", errors.mae()}};
    if (config_.forecast.probabilistic()) metrics.set("val_wql", errors.wql());
    return metrics;
  }
  train::Criterion criterion() const override { return {"val_mase", true}; }
  std::string data_hash() const override { return run_.content; }

 private:
  metrics::PanelErrors no_errors() const {
    return metrics::PanelErrors(config_.forecast.probabilistic() ? config_.forecast.quantiles
                                                                 : std::vector<double>{});
  }

  const PanelRun& run_;
  int64_t season_;
  PanelForecaster forecaster_;
  std::vector<int64_t> training_ends_;
};

int64_t median(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Removes the rows from `rows` of each series on.
data::Panel first_rows(const data::Panel& panel, std::span<const int64_t> rows) {
  return data::head_rows(panel, rows);
}

std::string panel_text(const data::Panel& panel) {
  std::vector<int64_t> rows;
  for (int64_t s = 0; s < panel.series(); ++s) rows.push_back(panel.rows(s));
  const auto [low, high] = std::minmax_element(rows.begin(), rows.end());
  return fmt::format("{} series of {} to {} rows{}", panel.series(), *low, *high,
                     panel.clock.dated ? ", one every " + panel.clock.frequency_text() : "");
}

fs::path calibration_file(const PanelRun& run) {
  return run.folder().file("calibration.npz");
}

}  // namespace

std::vector<int64_t> PanelRun::all_rows(const data::Panel& of) const {
  std::vector<int64_t> rows;
  for (int64_t s = 0; s < of.series(); ++s) rows.push_back(of.rows(s));
  return rows;
}

data::Panel PanelRun::load_panel(const std::string& path) const {
  data::ForecastDataConfig from = config.data;
  if (!path.empty()) from.path = path;
  data::Panel loaded = data::load_panel(from);
  if (variables_.empty()) return loaded;
  require(loaded.layout.values == variables_, ErrorKind::data,
          "{}: its variables are {}, but the run was trained on {}", loaded.source,
          fmt::join(loaded.layout.values, ", "), fmt::join(variables_, ", "));
  data::TimeAxis trained;
  trained.dated = true;
  trained.step = step_;
  trained.months = months_;
  require(loaded.clock.step == step_ && loaded.clock.months == months_, ErrorKind::data,
          "{}: its rows are {} apart, but those of the run's training {}", loaded.source,
          loaded.clock.frequency_text(), trained.frequency_text());
  return loaded;
}

void PanelRun::load(const DataRequest& request) {
  if (request.training) {
    require(config.model.name != "ensemble" && config.model.name != "ridge", ErrorKind::config,
            "model '{}' does not read panels yet: choose another model, or set data.panel = no",
            config.model.name);
  }
  panel = load_panel(request.path);
  if (request.training) {
    if (config.forecast.horizon == 0 && config.forecast.horizons.empty())
      config.forecast.horizon = usual_horizon(panel.clock, std::max<int64_t>(median(all_rows(panel)) / 4, 2));
    const data::PanelSplits open =
        data::split_panel(panel, config.forecast.longest(), config.data.split_windows);
    require(!open.train.empty(), ErrorKind::data,
            "{}: no series is longer than the horizon of {} rows for test and validation", panel.source,
            config.forecast.longest());
    std::vector<int64_t> rows;
    for (const data::PanelWindow& window : open.train)
      rows.push_back(open.train_rows[static_cast<size_t>(window.series)]);
    const int64_t usual = std::max<int64_t>(2 * config.forecast.longest(), 3 * season_of(config, panel));
    if (config.forecast.lookback == 0)
      config.forecast.lookback = std::clamp<int64_t>(usual, 4, std::max<int64_t>(median(rows), 4));
    config.data.panel = "yes";
    models::PatchConfig& patch = config.model.patch;
    const models::ForecasterRow& row = row_of(models::forecasters(), config.model.name);
    if (row.has_option("patch.length") && patch.length > config.forecast.lookback) {
      patch.length = std::max<int64_t>(config.forecast.lookback / 2, 1);
      patch.stride = std::max<int64_t>(patch.length / 2, 1);
    }
    chosen_ = choose_defaults(config, {panel.clock, panel_text(panel), median(rows),
                                       config.forecast.longest(), [&] { return season_of(config, panel); },
                                       [&](const ForecastConfig&) { return std::ssize(open.train); }});
    variables_ = panel.layout.values;
    step_ = panel.clock.step;
    months_ = panel.clock.months;
    encodings_ = data::encodings_of(panel.statics, panel.source);
    known_gaps_ = data::known_has_gaps(panel);
  }
  splits = data::split_panel(panel, config.forecast.longest(), config.data.split_windows);
  require(!request.training || !splits.validation.empty(), ErrorKind::data,
          "{}: all {} series are too short for a validation window of {} rows and a test window after it",
          panel.source, panel.series(), config.forecast.longest());
  if (request.training && !config.train.test) {
    std::vector<int64_t> rows = all_rows(panel);
    for (const data::PanelWindow& window : splits.test)
      rows[static_cast<size_t>(window.series)] =
          std::min(rows[static_cast<size_t>(window.series)], window.origin);
    panel = first_rows(panel, rows);
    splits.test.clear();
  }
  content = data::hash_of(panel);
}

Json PanelRun::describe() const {
  return {{"source", panel.source},
          {"hash", content},
          {"panel", true},
          {"series", panel.series()},
          {"rows", panel.offsets.back()},
          {"variables", variables_},
          {"id", panel.layout.id},
          {"ahead", {{"features", features()}, {"modes", 0}, {"missing", known_gaps_}}},
          {"static_covariates", data::to_json(encodings_)},
          {"time", {{"dated", panel.clock.dated}, {"step", step_}, {"months", months_}}}};
}

void PanelRun::restore(const Json& json, const std::string& /*file*/) {
  variables_ = json.at("variables").get<std::vector<std::string>>();
  if (json.contains("ahead")) {
    known_gaps_ = json.at("ahead").at("missing");
    encodings_ = data::encodings_from_json(json.at("static_covariates"));
  }
  step_ = json.at("time").at("step");
  months_ = json.at("time").at("months");
  if (fs::exists(calibration_file(*this))) calibration = metrics::read_calibration(calibration_file(*this));
}

void PanelRun::announce() {
  for (const std::string& note : panel.notes) spdlog::info("{}", note);
  for (const std::string& warning : panel.warnings) spdlog::warn("{}: {}", panel.source, warning);
  if (!chosen_.empty()) spdlog::info("{}", chosen_);
  spdlog::info("{}: {} ({}); windows: {} train an epoch, {} validation, {}; model {}", panel.source,
               panel_text(panel), splits.rule, splits.train.size(), splits.validation.size(),
               test_count(config.train.test, splits.test.size()), model_title(config));
}

void PanelRun::make_model(Purpose purpose) {
  const models::ForecastShape shape = panel_shape(config, std::ssize(variables_), features());
  models::validate(config.model, shape);
  model = models::make_forecaster(config.model, shape, static_cast<uint64_t>(config.train.seed));
  if (purpose == Purpose::open) return;
  if (model->local()) config.train.epochs = 0;
  if (purpose != Purpose::train || config.init.empty()) return;
  const std::vector<train::NamedTensor> tensors = train::module_tensors(*model);
  if (fs::is_directory(config.init))
    train::load_weights(*model, train::RunFolder::open(config.init));
  else
    train::load_tensors(config.init, tensors);
}

nn::ModelCost PanelRun::cost() const {
  return models::forecaster_cost(config.model, panel_shape(config, std::ssize(variables_), features()));
}

int64_t PanelRun::features() const {
  data::TimeAxis clock;  // of the training's time step
  clock.dated = step_ != 0 || months_ != 0;
  clock.step = step_;
  clock.months = months_;
  int64_t features = std::ssize(config.data.known) * (known_gaps_ ? 2 : 1) +
                     data::calendar_width(config.data, clock);
  for (const data::StaticEncoding& encoding : encodings_) features += encoding.features();
  return features;
}

data::PanelScaler PanelRun::scaler(const data::Panel& of, std::span<const int64_t> rows) const {
  data::PanelScaler scaler = data::PanelScaler::fit(of, rows);
  if (features() > 0)
    scaler.covariates = std::make_shared<const data::PanelCovariates>(
        data::make_covariates(of, config.data, encodings_, known_gaps_, config.window().horizon));
  return scaler;
}

std::unique_ptr<train::ModuleTask> PanelRun::task() {
  return std::make_unique<PanelTask>(*this, *model);
}

PanelForecaster PanelRun::forecaster(const data::Panel& of, std::span<const int64_t> fitted) const {
  return {model.get(), &config, &of, scaler(of, fitted), all_rows(of)};
}

std::vector<data::PanelWindow> PanelRun::windows_of(const std::string& split) const {
  const std::vector<data::PanelWindow>& windows = split == "validation" ? splits.validation : splits.test;
  require(split != "train", ErrorKind::usage, "panels are evaluated on --split test, validation or all");
  require(!windows.empty(), ErrorKind::data, "{}: no series is long enough for a {} window", panel.source,
          split);
  return windows;
}

Json PanelRun::evaluate(const std::string& split, bool keep, train::Workers& workers) {
  const std::vector<data::PanelWindow> windows = windows_of(split);
  const PanelForecaster by = forecaster(panel, splits.train_rows);
  const CalibratedForecaster with = calibrated();
  metrics::PanelErrors errors(with.levels());
  std::vector<double> mase(windows.size());
  Progress progress("evaluating", std::ssize(windows), "windows");
  by.stream(
      windows,
      [&](const ForecastBlock& block) {
        const auto part = std::span<const data::PanelWindow>(windows).subspan(
            static_cast<size_t>(block.first_window), static_cast<size_t>(block.windows()));
        by.add_errors(errors, part, block, with.quantiles(block), season_of(config, panel),
                      [&](int64_t window, double one) { mase[static_cast<size_t>(window)] = one; });
        progress.update(block.first_window + block.windows());
      },
      1, workers);
  progress.finish();
  if (!workers.is_rank_zero()) return {};
  Json json = {{"split", split},
               {"series", panel.series()},
               {"lookback", config.forecast.lookback},
               {"horizon", config.forecast.longest()}};
  json.update(errors.to_json());
  std::vector<size_t> order;  // windows with a MASE, best first
  for (size_t i = 0; i < mase.size(); ++i)
    if (std::isfinite(mase[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return mase[a] < mase[b]; });
  const auto shown = [&](size_t first) {
    Json list = Json::array();
    for (size_t i = first; i < std::min(order.size(), first + kShownSeries); ++i) {
      const data::PanelWindow& window = windows[order[i]];
      list.push_back({{"name", panel.name(window.series)},
                      {"series", window.series},
                      {"origin", window.origin},
                      {"mase", mase[order[i]]}});
    }
    return list;
  };
  json["best"] = shown(0);
  json["median"] = shown(order.size() / 2);
  json["worst"] = shown(order.size() - std::min(order.size(), kShownSeries));
  if (keep) {
    std::string names;
    for (const data::PanelWindow& window : windows) names += panel.name(window.series) + "\n";
    const std::span name_bytes(reinterpret_cast<const uint8_t*>(names.data()), names.size());
    write_file_atomically(
        folder().file("test_series.npz"),
        io::format_npz({{"mase", io::make_array({std::ssize(mase)}, std::span<const double>(mase))},
                        {"names", io::make_array({std::ssize(names)}, name_bytes)}}));
  }
  return json;
}

void PanelRun::finish(Json& metrics) {
  const std::vector<data::PanelWindow>& windows = splits.validation;
  if (!windows.empty()) {
    Progress progress("calibrating", std::ssize(windows), "windows");
    const PanelForecaster by = forecaster(panel, splits.train_rows);
    calibration = calibrate_blocks(
        model->shape(), config, std::ssize(windows),
        [&](const BlockVisitor& visit, int64_t stride) {
          by.stream(
              windows,
              [&](const ForecastBlock& block) {
                visit(block);
                progress.update((block.first_window + block.windows()) * stride);
              },
              stride);
        });
    progress.finish();
  }
  if (calibration) {
    metrics::write_calibration(calibration_file(*this), *calibration);
    metrics["calibration"] = to_json(*calibration);
  }
  const std::string split = config.train.test ? "test" : "validation";
  metrics["test_read"] = config.train.test;
  metrics[split] = evaluate(split, true, train::single_process());
}

std::vector<ResultTable> PanelRun::tables(const Json& metrics) const {
  const Json parts = evaluated_parts(metrics);
  Json row = parts.at(parts.size() - 1);
  const auto split = row.at("split").get<std::string>();
  std::vector<JsonColumn> columns = {{"MASE", "mase", 4}, {"RMSSE", "rmsse", 4}, {"SMAPE %", "smape", 2}};
  if (row.contains("wql")) {
    columns.push_back({"WQL", "wql", 4});
    for (size_t i = 0; i < row.at("intervals").size(); ++i)
      columns.push_back({fmt::format("coverage {:g} % ", 100 * number(row.at("intervals").at(i), "nominal")),
                         fmt::format("intervals/{}/coverage", i), 1, 100});
  }
  std::vector<ResultTable> tables = {
      {fmt::format("Errors on the {} windows", split),
       fmt::format(
           "Means over {} windows. MASE and RMSSE are relative to naive forecasts within the rows before.",
           Cell::count(row.at("windows")).text()),
       json_table(columns, Json::array({row}))}};
  tables.front().line =
      fmt::format("{}: {} windows of {} series, lookback {}, horizon {}\n\n", split,
                  Cell::count(row.at("windows")).text(), Cell::count(row.at("series")).text(),
                  row.at("lookback").get<int64_t>(), row.at("horizon").get<int64_t>());
  for (const char* part : {"best", "median", "worst"})
    tables.push_back(
        {"",
         fmt::format("Series with the {} MASE.", part),
         json_table({{fmt::format("{} series", part), "name"}, {"MASE", "mase", 4}}, row.at(part)),
         {},
         true});
  return tables;
}

report::HtmlPage PanelRun::page(const Json& metrics) {
  report::HtmlPage page =
      open_page(*this, {fs::path(panel.source).filename().string(),
                        "Forecasting run on a panel",
                        {{"data", fmt::format("{}: {}", panel.source, panel_text(panel))}},
                        {{"window", fmt::format("lookback {}, horizon {}", config.forecast.lookback,
                                                config.forecast.longest())}}});
  add_tables(page, tables(metrics));
  const PanelForecaster by = forecaster(panel, splits.train_rows);
  const CalibratedForecaster with = calibrated();
  const Json& evaluation = metrics.at(evaluated_part(metrics));
  const int64_t horizon = config.window().horizon;
  const auto time = [&](int64_t s, int64_t row) {
    return static_cast<double>(panel.clock.dated ? panel.clock.at(panel.clock_row(s, row)) : row);
  };
  const auto figure_of = [&](const data::PanelWindow& window) {
    const ForecastBlock block = by.forecast(std::span(&window, 1));
    const std::vector<float> quantiles = with.quantiles(block);
    const size_t levels = with.levels().size();
    report::LineSeries truth, forecast;
    truth.label = "truth";
    truth.color = report::kInkColor;
    const int64_t width = panel.variables(), begin = panel.offsets[static_cast<size_t>(window.series)];
    for (int64_t row = std::max<int64_t>(window.origin - 3 * horizon, 0);
         row < std::min(window.origin + horizon, panel.rows(window.series)); ++row) {
      const int64_t cell = (begin + row) * width;
      const bool seen = !panel.observed.defined() || panel.observed.const_data_ptr<bool>()[cell];
      truth.x.push_back(time(window.series, row));
      truth.y.push_back(seen ? panel.values.const_data_ptr<double>()[cell] : std::nan(""));
    }
    forecast.label = "forecast";
    report::Band band{
        {},
        {},
        levels > 1 ? fmt::format("{:.3g} %", 100 * (with.levels().back() - with.levels().front())) : ""};
    for (int64_t step = 0; step < horizon; ++step) {
      const auto at = static_cast<size_t>(step);
      forecast.x.push_back(time(window.series, window.origin + step));
      forecast.y.push_back(by.to_units(floats(block.forecast)[at], window.series, 0));
      if (levels < 2) continue;
      band.lower.push_back(by.to_units(quantiles[at * levels], window.series, 0));
      band.upper.push_back(by.to_units(quantiles[at * levels + levels - 1], window.series, 0));
    }
    if (levels > 1) forecast.bands.push_back(std::move(band));
    report::LineChart chart;
    chart.title = panel.name(window.series);
    if (panel.clock.dated) chart.x.scale = report::AxisScale::date;
    chart.series = {std::move(truth), std::move(forecast)};
    return chart;
  };
  for (const char* part : {"best", "median", "worst"}) {
    std::vector<report::CaptionedFigure> figures;
    for (const Json& one : evaluation.at(part))
      figures.push_back({figure_of({one.at("series").get<int64_t>(), one.at("origin").get<int64_t>()}),
                         fmt::format("MASE {:.3f}", number(one, "mase"))});
    page.add_section(fmt::format("Forecasts of the series with the {} MASE", part));
    if (!figures.empty()) page.add_figure_grid(figures);
  }
  add_learning(
      page, folder(),
      {{"Learning curves",
        {"val_mase", "val_mse", "val_mae", {"train_loss", "training loss", LearningCurve::Style::dashed}},
        "best " + metrics.value("criterion", "")}});
  return page;
}

}  // namespace modewise::tasks
