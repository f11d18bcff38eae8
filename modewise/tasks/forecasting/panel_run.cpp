#include "modewise/tasks/forecasting/panel_run.h"

#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/core/output_file.h"
#include "modewise/core/progress.h"
#include "modewise/data/forecasting/calendar.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/io/arrays/name_lines.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/models/forecasting/cost.h"
#include "modewise/tasks/forecasting/choose_defaults.h"
#include "modewise/tasks/forecasting/members.h"
#include "modewise/tasks/forecasting/panel_members.h"
#include "modewise/tasks/forecasting/panel_task.h"
#include "modewise/tasks/run/test_split.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kShownSeries = 5;  // best, median and worst series of an evaluation

/// Config error for settings of one tensor that a panel does not read.
void refuse_settings(const ForecastConfig& config) {
  const ForecastConfig unchanged;
  const ForecastOptions& usual = unchanged.forecast;
  const std::vector<double>& ratios = config.data.split_ratios;
  // Ratios that leave no test rows may be given with test_windows = 0, for data that are either.
  const bool of_either = config.data.test_windows == 0 && ratios.size() == 3 && ratios[2] == 0;
  constexpr const char* kSplit = "whose series are split by their last horizons (data.split_windows)";
  constexpr const char* kRows = "whose series have the dates of the table, or the order of its rows";
  constexpr const char* kModes = "whose series are independent";
  constexpr const char* kTable = "which are read from a table";
  constexpr std::string_view kFormats[] = {"auto", "csv", "folder"};
  struct Row {
    const char* name;
    bool given;
    const char* reason;
  };
  const Row settings[] = {
      {"data.split", config.data.split != "auto", kSplit},
      {"data.split_dates", !config.data.split_dates.empty(), kSplit},
      {"data.split_ratios", ratios != unchanged.data.split_ratios && !of_either, kSplit},
      {"data.simulate", !config.data.simulate.empty(), kTable},
      {"data.format", !std::ranges::count(kFormats, config.data.format), kTable},
      {"data.missing_fraction", config.data.knock_out > 0, "whose missing cells are those of the table"},
      {"data.start", !config.data.start.empty(), kRows},
      {"data.step", !config.data.step.empty(), kRows},
      {"data.mode_names", !config.data.mode_names.empty(), kModes},
      {"data.ordered_modes", !config.data.ordered_modes.empty(), kModes},
      {"forecast.train_stride", config.forecast.train_stride != usual.train_stride, kSplit},
      {"forecast.train_fraction", config.forecast.train_fraction != usual.train_fraction, kSplit},
      {"forecast.validation_stride", config.forecast.validation_stride != usual.validation_stride, kSplit},
      {"forecast.test_drop_last", config.forecast.test_drop_last != usual.test_drop_last, kSplit},
      {"forecast.select", config.forecast.select != usual.select, "whose models are selected by MASE"}};
  for (const auto& [name, given, reason] : settings)
    require(!given, ErrorKind::config,
            "{} is not for panels, {}: leave it out, or read one tensor with data.panel = no", name, reason);
  require(config.calibration.season <= 1, ErrorKind::config,
          "calibration.season = {}: the intervals of panels do not follow a season, because each series has "
          "few validation windows: leave it out, or read one tensor with data.panel = no",
          config.calibration.season);
}

/// Hash of the ids, and of the scales of the training rows.
std::string hash_of_training(const data::Panel& panel, std::span<const int64_t> rows) {
  const data::PanelScaler scaler = data::PanelScaler::fit(panel, rows);
  std::string all;
  for (int64_t s = 0; s < panel.series(); ++s) all += panel.name(s) + "\n";
  for (const std::vector<double>* values : {&scaler.mean, &scaler.stddev})
    all += content_hash(std::as_bytes(std::span(*values)));
  return content_hash(std::as_bytes(std::span(all)));
}

/// The rows of all series one after the other, for models that are fitted in closed form, with the windows
/// that lie within the training rows of a series.
models::FittingRows panel_rows(const data::Panel& panel, const data::PanelSplits& splits,
                               data::WindowShape shape) {
  const data::PanelScaler scaler = data::PanelScaler::fit(panel, splits.train_rows);
  const int64_t width = panel.variables(), all = panel.offsets.back();
  models::FittingRows rows;
  rows.values = at::zeros({width, all}, at::kFloat);
  rows.mean = at::zeros({width}, at::kDouble);
  rows.stddev = at::ones({width}, at::kDouble);
  rows.last = all;
  if (panel.observed.defined()) rows.observed = panel.observed.t().contiguous();
  const bool* observed = panel.observed.defined() ? panel.observed.const_data_ptr<bool>() : nullptr;
  const double* values = panel.values.const_data_ptr<double>();
  for (int64_t s = 0; s < panel.series(); ++s) {
    const int64_t first = panel.offsets[static_cast<size_t>(s)];
    for (int64_t row = first; row < first + panel.rows(s); ++row)
      for (int64_t v = 0; v < width; ++v) {
        const auto at = static_cast<size_t>(s * width + v);
        if (observed == nullptr || observed[row * width + v])
          rows.values.mutable_data_ptr<float>()[v * all + row] =
              static_cast<float>((values[row * width + v] - scaler.mean[at]) / scaler.stddev[at]);
      }
    const int64_t last = first + splits.train_rows[static_cast<size_t>(s)] - shape.lookback - shape.horizon;
    for (int64_t start = first; start <= last; ++start) rows.training.push_back(start);
  }
  for (const data::PanelWindow& window : splits.validation)
    if (window.origin >= shape.lookback)
      rows.validation.push_back(panel.offsets[static_cast<size_t>(window.series)] + window.origin -
                                shape.lookback);
  return rows;
}

/// The splits of other data than the run's own, of which at least the last horizon of each series is
/// evaluated.
data::PanelSplits last_windows(const ForecastConfig& config, const data::Panel& panel) {
  const int64_t windows = config.data.test_windows;
  return data::split_panel(panel, config.forecast.longest(), config.data.split_windows,
                           windows == 0 ? 1 : windows);
}

fs::path calibration_file(const PanelRun& run) {
  return run.folder().file("calibration.npz");
}

fs::path trained_series_file(const PanelRun& run) {
  return run.folder().file("trained_series.npz");
}

/// The windows in the order of their ids, so that the order of the rows in the file changes no interval.
std::vector<data::PanelWindow> in_order_of_ids(const data::Panel& panel,
                                               std::vector<data::PanelWindow> windows) {
  std::vector<std::string> names;
  for (int64_t s = 0; s < panel.series(); ++s) names.push_back(panel.name(s));
  std::stable_sort(windows.begin(), windows.end(),
                   [&](const data::PanelWindow& a, const data::PanelWindow& b) {
                     return names[static_cast<size_t>(a.series)] < names[static_cast<size_t>(b.series)];
                   });
  return windows;
}

/// Whether a series has future covariates for fewer than `horizon` rows after its end.
bool lacks_rows_ahead(const data::Panel& panel, int64_t horizon) {
  const std::vector<int64_t>& known = panel.known.offsets;
  if (panel.known.names.empty()) return false;
  for (size_t s = 0; s + 1 < known.size(); ++s)
    if (known[s + 1] - known[s] < panel.rows(static_cast<int64_t>(s)) + horizon) return true;
  return false;
}

}  // namespace

std::vector<int64_t> PanelRun::all_rows(const data::Panel& of) const {
  std::vector<int64_t> rows;
  for (int64_t s = 0; s < of.series(); ++s) rows.push_back(of.rows(s));
  return rows;
}

data::ForecastDataConfig PanelRun::series_config() const {
  data::ForecastDataConfig from = config.data;
  from.date_order = date_order_;
  from.variables = variables_;
  from.step_seconds = clock_.step;
  from.step_months = clock_.months;
  from.trained_id = id_;
  if (!time_numbers_.empty()) {
    from.time = {time_numbers_};
    from.time_format = "number";
  }
  if (!variables_.empty()) from.variables.insert(from.variables.end(), from.known.begin(), from.known.end());
  return from;
}

data::Panel PanelRun::load_panel(const std::string& path, std::optional<data::SeriesTable> table) const {
  data::ForecastDataConfig from = series_config();
  if (!path.empty()) from.path = path;
  data::Panel loaded = data::load_panel(from, std::move(table));
  if (variables_.empty()) return loaded;
  require(loaded.layout.values == variables_, ErrorKind::data,
          "{}: its variables are {}, but the run was trained on {}", loaded.source,
          fmt::join(loaded.layout.values, ", "), fmt::join(variables_, ", "));
  if (units_) require_same_units(*units_, trained_on_, loaded.units, loaded.source);
  require(loaded.clock.step == clock_.step && loaded.clock.months == clock_.months, ErrorKind::data,
          "{}: its rows are {} apart, but those of the run's training {}", loaded.source,
          loaded.clock.frequency_text(), clock_.frequency_text());
  if (clock_.has_times() && clock_has_start_) loaded.row_offset = clock_.row_of(loaded.clock.start);
  return loaded;
}

void PanelRun::load(const DataRequest& request) {
  if (request.training) {
    if (!has_folder()) {
      refuse_settings(config);
      refuse_idle_steps(config);
    }
    take_members(config);
  }
  panel = load_panel(request.path, std::exchange(table_, std::nullopt));
  if (request.training) {
    const int64_t training_rows = choose_panel_window(config, panel);
    config.data.panel = "yes";
    models::PatchConfig& patch = config.model.patch;
    const models::ForecasterRow& row = row_of(models::forecasters(), config.model.name);
    if (row.has_option("patch.length") && patch.length > config.forecast.lookback) {
      patch.length = std::max<int64_t>(config.forecast.lookback / 2, 1);
      patch.stride = std::max<int64_t>(patch.length / 2, 1);
    }
    splits = splits_of(config, panel);
    chosen_ =
        choose_defaults(config, {panel.clock, panel_text(), training_rows, config.forecast.longest(),
                                 [&] { return season_of(config, panel); },
                                 [&](const ForecastConfig&) { return std::ssize(splits.train); }, true});
    variables_ = panel.layout.values;
    units_ = panel.units;
    if (panel.clock.dated) date_order_ = data::date_order_of(panel.clock.style);
    clock_ = panel.clock;
    id_ = panel.layout.id;
    if (!clock_.dated && clock_.has_times()) time_numbers_ = panel.time_columns.names.at(0);
    encodings_ = data::encodings_of(panel.statics, panel.source);
    known_gaps_ = data::known_has_gaps(panel);
  }
  splits = splits_of(config, panel);
  require(!request.training || !splits.validation.empty(), ErrorKind::data,
          "{}: all {} series are too short for a validation window of {} rows and a test window after it",
          panel.source, panel.series(), config.forecast.longest());
  if (request.training && !config.train.test) {
    panel = data::head_rows(panel, rows_before_test());
    splits.test.clear();
  }
  content = data::hash_of(panel);
  if (!request.training) compare(request);
  if (whole_) splits = last_windows(config, panel);
  kept_ = std::make_shared<LocalOutputs>();
  if (request.training) training = hash_of_training(panel, splits.train_rows);
}

std::string PanelRun::panel_text() const {
  std::vector<int64_t> rows;
  for (int64_t s = 0; s < panel.series(); ++s) rows.push_back(panel.rows(s));
  const auto [low, high] = std::minmax_element(rows.begin(), rows.end());
  return fmt::format("{} series of {} to {} rows{}", panel.series(), *low, *high,
                     panel.clock.dated ? ", one every " + panel.clock.frequency_text() : "");
}

std::vector<int64_t> PanelRun::rows_before_test() const {
  std::vector<int64_t> rows = all_rows(panel);
  for (const data::PanelWindow& window : splits.test)
    rows[static_cast<size_t>(window.series)] =
        std::min(rows[static_cast<size_t>(window.series)], window.origin);
  return rows;
}

void PanelRun::compare(const DataRequest& request) {
  const bool unread = data_json_leaves_test_out(folder(), config.train);
  const bool same = content == trained_hash_ ||
                    (unread && data::hash_of(data::head_rows(panel, rows_before_test())) == trained_hash_);
  const std::vector<int64_t> compared = unread ? rows_before_test() : all_rows(panel);
  const int64_t rows = std::reduce(compared.begin(), compared.end());
  require(
      !request.unchanged || same, ErrorKind::data,
      "{0} has changed since the training of {1}: {2}{3} in {4} series then, {5}; --data {6} evaluates the "
      "last rows of each series of the file as it is now and leaves the results of the run as they are",
      panel.source, folder().path().string(), counted(trained_rows_, "row"),
      unread ? " before the test rows" : "", trained_series_,
      rows == trained_rows_ && panel.series() == trained_series_
          ? "as many now, with other values"
          : fmt::format("{} in {} series now", counted(rows, "row"), panel.series()),
      command_word(panel.source));
  if (request.path.empty() && !same) warn_of_changes(panel);
  const bool others = !request.own() && !same;
  whole_ = others || (!request.own() && request.split == "all");
  if (others)
    spdlog::info(
        "{}: {} series, which are not the training data of the run ({}): the last rows of each are evaluated",
        panel.source, panel.series(), trained_on_);
}

std::optional<PanelChanges> PanelRun::changes(const data::Panel& of) const {
  if (data::hash_of(of) == trained_hash_) return std::nullopt;
  return panel_changes(trained_series_file(*this), of);
}

void PanelRun::warn_of_changes(const data::Panel& own) const {
  const std::optional<PanelChanges> found = changes(own);
  if (!found) return;
  if (found->gone > 0)
    warn_of_changed_rows(own.source, folder().path(),
                         fmt::format("{} of the {} series of its training {} no rows now", found->gone,
                                     found->trained, found->gone == 1 ? "has" : "have"));
  if (!found->changed.empty())
    warn_of_changed_rows(
        own.source, folder().path(),
        fmt::format("the rows of {} of the {} series of its training are others now: {}",
                    found->changed.size(), found->trained, data::first_names(found->changed)));
}

Json PanelRun::describe() const {
  Json json = {{"source", panel.source},
               {"hash", content},
               {"training", training},
               {"panel", true},
               {"series", panel.series()},
               {"rows", panel.offsets.back()},
               {"variables", variables_},
               {"id", id_},
               {"ahead", {{"features", features()}, {"modes", 0}, {"missing", known_gaps_}}},
               {"static_covariates", data::to_json(encodings_)},
               {"time",
                {{"dated", clock_.dated},
                 {"start", clock_.start},
                 {"step", clock_.step},
                 {"months", clock_.months},
                 {"week", clock_.week}}}};
  if (units_) json["units"] = *units_;
  if (!date_order_.empty()) json["date_order"] = date_order_;
  if (!time_numbers_.empty()) json["time_numbers"] = time_numbers_;
  return json;
}

void PanelRun::restore(const Json& json, const std::string& /*file*/) {
  variables_ = json.at("variables").get<std::vector<std::string>>();
  if (json.contains("ahead")) {
    known_gaps_ = json.at("ahead").at("missing");
    encodings_ = data::encodings_from_json(json.at("static_covariates"));
  }
  if (json.contains("units")) units_ = json["units"].get<std::map<std::string, std::string>>();
  date_order_ = json.value("date_order", "");
  id_ = json.at("id").get<std::vector<std::string>>();
  time_numbers_ = json.value("time_numbers", "");
  trained_on_ = json.at("source");
  trained_hash_ = json.at("hash");
  trained_series_ = json.value("series", int64_t{0});
  trained_rows_ = json.value("rows", int64_t{0});
  training = json.value("training", "");
  const Json& time = json.at("time");
  clock_.step = time.at("step");
  clock_.months = time.at("months");
  clock_.dated = time.at("dated");
  clock_has_start_ = time.contains("start");
  clock_.start = time.value("start", int64_t{0});
  clock_.week = time.value("week", std::vector<int64_t>{});
  if (fs::exists(calibration_file(*this))) calibration = metrics::read_calibration(calibration_file(*this));
}

void PanelRun::announce() {
  for (const std::string& note : panel.notes) spdlog::info("{}", note);
  for (const std::string& warning : panel.warnings) spdlog::warn("{}: {}", panel.source, warning);
  if (!chosen_.empty()) spdlog::info("{}", chosen_);
  spdlog::info("{}: {} ({}); windows: {} train an epoch, {} validation, {}; model {}", panel.source,
               panel_text(), splits.rule, splits.train.size(), splits.validation.size(),
               test_count(config.train.test, splits.test.size()), model_title(config));
}

void PanelRun::make_model(Purpose purpose) {
  const models::ForecastShape shape = panel_shape(config, std::ssize(variables_), features());
  models::validate(config.model, shape);
  model = models::make_forecaster(config.model, shape, static_cast<uint64_t>(config.train.seed));
  if (dynamic_cast<models::EnsembleForecaster*>(model.get()) != nullptr)
    member_configs_ = member_configs(config);
  if (purpose == Purpose::open) return;
  fit();
  if (model->parameters().empty()) config.train.epochs = 0;
  if (purpose != Purpose::train || config.init.empty()) return;
  const std::vector<train::NamedTensor> tensors = train::module_tensors(*model);
  if (fs::is_directory(config.init))
    train::load_weights(*model, train::RunFolder::open(config.init));
  else
    train::load_tensors(config.init, tensors);
}

void PanelRun::fit() {
  if (auto* ensemble = dynamic_cast<models::EnsembleForecaster*>(model.get())) {
    load_members(*ensemble, *this);
    const PanelForecaster by = forecaster();
    ensemble->set_weights(mase_weights(by, by.members, splits.validation, season_of(config, panel),
                                       config.model.ensemble.picks));
    spdlog::info("ensemble: {}", members_text(*model, config));
  } else if (model->fits_windows()) {
    model->fit(panel_rows(panel, splits, config.window()));
  }
}

nn::ModelCost PanelRun::cost() const {
  return models::forecaster_cost(config.model, panel_shape(config, std::ssize(variables_), features()));
}

int64_t PanelRun::features() const {
  int64_t features =
      std::ssize(config.data.known) * (known_gaps_ ? 2 : 1) + data::calendar_width(config.data, clock_);
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
  return make_panel_task(*this);
}

PanelForecaster PanelRun::forecaster(const data::Panel& of, std::span<const int64_t> fitted) const {
  PanelForecaster by{model.get(), &config, &of, scaler(of, fitted), all_rows(of)};
  if (auto* ensemble = dynamic_cast<models::EnsembleForecaster*>(model.get())) {
    const std::vector<double> weights = ensemble->weights();
    for (size_t i = 0; i < weights.size(); ++i)
      by.members.push_back({&ensemble->member(static_cast<int64_t>(i)), &member_configs_[i], weights[i]});
  }
  return by;
}

PanelForecaster PanelRun::forecaster() const {
  PanelForecaster by = forecaster(panel, splits.train_rows);
  by.kept = kept_;
  return by;
}

std::vector<data::PanelWindow> PanelRun::windows_of(const std::string& split) const {
  require(
      whole_ || split == "test" || split == "validation", ErrorKind::usage,
      "the split of a panel is test or validation, got '{}'; the rows before these windows give the scale of "
      "each series",
      split);
  const std::vector<data::PanelWindow>& windows =
      split == "validation" && !whole_ ? splits.validation : splits.test;
  require(
      whole_ || config.data.test_windows != 0 || split == "validation", ErrorKind::data,
      "{}: the run was trained without test windows (data.test_windows = 0): --split validation has windows",
      panel.source);
  require(!windows.empty(), ErrorKind::data, "{}: no series is long enough for a {} window", panel.source,
          split);
  return windows;
}

Json PanelRun::evaluate(const std::string& split, bool keep, train::Workers& workers) {
  const std::vector<data::PanelWindow> windows = windows_of(split);
  const PanelForecaster by = forecaster();
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
  Json json = {{"split", whole_ ? "test" : split},
               {"series", panel.series()},
               {"lookback", config.forecast.lookback},
               {"horizon", config.forecast.longest()},
               {"season", season_of(config, panel)}};
  json.update(errors.to_json());
  warn_of_scales(json, windows, mase);
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
    std::vector<std::string> names;
    for (const data::PanelWindow& window : windows) names.push_back(panel.name(window.series));
    const std::filesystem::path file = folder().file("test_series.npz");
    prepare_output(file, true);
    write_file_atomically(
        file, io::format_npz({{"mase", io::make_array({std::ssize(mase)}, std::span<const double>(mase))},
                              {"names", io::name_lines(names)}}));
  }
  return json;
}

void PanelRun::warn_of_scales(const Json& evaluation, std::span<const data::PanelWindow> windows,
                              std::span<const double> mase) const {
  const auto season = evaluation.at("season").get<int64_t>(),
             lag_1 = evaluation.at("mase_of_lag_1").get<int64_t>();
  std::vector<std::string> names;
  for (size_t i = 0; i < mase.size(); ++i)
    if (std::isnan(mase[i])) names.push_back(panel.name(windows[i].series));
  if (!names.empty())
    spdlog::warn(
        "{}: {} of {} have no MASE and are left out of its mean, since the seasonal naive error (season {}) "
        "of the "
        "rows before them is 0: {}",
        panel.source, names.size(), counted(std::ssize(mase), "window"), season, data::first_names(names));
  if (lag_1 > 0)
    spdlog::warn(
        "{}: the MASE of {} is relative to the error of repeating the row before, because the series has no "
        "more "
        "rows before it than a season ({})",
        panel.source, counted(lag_1, "window"), season);
}

void PanelRun::finish(Json& metrics) {
  write_trained_series(trained_series_file(*this), panel);
  const std::vector<data::PanelWindow> windows = in_order_of_ids(panel, splits.validation);
  if (!windows.empty()) {
    Progress progress("calibrating", std::ssize(windows), "windows");
    const PanelForecaster by = forecaster();
    calibration = calibrate_blocks(model->shape(), config, {std::ssize(windows)}, 1,
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
  if (Json members = members_json(*model, config); !members.is_null())
    metrics["members"] = std::move(members);
  if (calibration) {
    metrics::write_calibration(calibration_file(*this), *calibration);
    metrics["calibration"] = to_json(*calibration);
  }
  const auto evaluated = [&](const char* split) { return evaluate(split, true, train::single_process()); };
  metrics["test_read"] = config.train.test;
  if (config.train.test && lacks_rows_ahead(panel, config.window().horizon)) metrics["needs_future"] = true;
  if (config.train.test)
    metrics["test"] = timed_test([&] { return evaluated("test"); });
  else
    metrics["validation"] = evaluated("validation");
}

}  // namespace modewise::tasks
