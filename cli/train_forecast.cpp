#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/evaluation_text.h"
#include "cli/forecast_options.h"
#include "cli/run_training.h"
#include "modewise/core/error.h"
#include "modewise/tasks/forecast_report.h"
#include "modewise/tasks/forecast_run.h"

namespace modewise::cli {
namespace {

class ForecastJob final : public TrainingJob {
 public:
  explicit ForecastJob(const ForecastConfigOptions&) {}

  std::string task() const override { return "forecast"; }

  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = tasks::load_forecast_config(file, assignments);
    config_.data.path = absolute_path(config_.data.path);
    require(!config_.data.path.empty() || !config_.data.simulate.empty(), ErrorKind::usage,
            "no data: give --data FILE, or --set data.simulate=lorenz96");
  }

  void load_data() override {
    data_ = tasks::load_forecast_data(config_);
    models::validate(config_.model, config_.model_shape(data_.series));
  }

  std::string run_stem() const override {
    const std::string data = config_.data.simulate.empty()
                                 ? std::filesystem::path(config_.data.path).stem().string()
                                 : config_.data.simulate;
    return run_stem_of(data, tasks::model_title(config_));
  }

  int64_t seed() const override { return config_.train.seed; }
  std::string data_hash() const override { return data_.hash; }

  void write_inputs(const train::RunFolder& folder) override {
    tasks::write_run_inputs(folder, config_, data_);
  }

  void announce() const override {
    for (const std::string& note : data_.series.notes) spdlog::info("{}", note);
    for (const std::string& note : data_.scaler.notes) spdlog::warn("{}", note);
    std::string shape;
    for (const data::SeriesMode& mode : data_.series.modes)
      shape += fmt::format("{}{} {}", shape.empty() ? "" : " × ", mode.labels.size(), mode.name);
    spdlog::info("{}: {} × {} rows ({}); windows: {} train, {} validation, {} test; model {}",
                 data_.series.source, shape, data_.series.rows(), data_.splits.rule,
                 data_.windows.train.size(), data_.windows.validation.size(), data_.windows.test.size(),
                 tasks::model_title(config_));
  }

  std::optional<nlohmann::ordered_json> train(train::RunFolder& folder, bool resume, bool accept_changes,
                                              int& signal) override {
    const tasks::TrainedForecast result =
        tasks::train_forecast(config_, data_, folder, resume, accept_changes);
    signal = result.training.signal;
    if (result.training.stopped_by_signal()) return std::nullopt;
    return result.metrics;
  }

  std::string config_toml() override { return fields_of(config_).to_toml(); }

  void write_report(const train::RunFolder& folder) override {
    if (config_.output.report)
      tasks::write_run_report(tasks::open_forecast_run(folder.path()), data_, folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override {
    return evaluation_text(metrics["test"], false);
  }

 private:
  tasks::ForecastConfig config_;
  tasks::ForecastData data_;
};

}  // namespace

void add_train_forecast(Program& program, CLI::App& parent) {
  add_training<ForecastConfigOptions, ForecastJob>(
      program, parent, "forecast",
      "Trains a forecaster, calibrates its intervals, and judges it on the test rows.",
      "modewise train forecast --data ETTh1.csv", forecast_config_help);
}

}  // namespace modewise::cli
