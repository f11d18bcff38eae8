#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/evaluation_text.h"
#include "cli/forecast_options.h"
#include "cli/run_training.h"
#include "modewise/analysis/forecaster_cost.h"
#include "modewise/core/error.h"
#include "modewise/tasks/forecast/report.h"
#include "modewise/tasks/forecast/run.h"
#include "modewise/tasks/test_part.h"

namespace modewise::cli {
namespace {

class ForecastJob final : public ConfiguredJob<tasks::ForecastConfig> {
 public:
  std::string task() const override { return "forecast"; }

  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_forecast_options(file, assignments);
    require(!config_.data.path.empty() || !config_.data.simulate.empty(), ErrorKind::usage,
            "no data: give --data FILE, or --set data.simulate=lorenz96");
  }

  void load_data() override {
    data_ = tasks::load_forecast_data(config_);
    models::validate(config_.model, config_.model_shape(data_.series));
  }

  std::string data_hash() const override { return data_.hash; }

  nlohmann::ordered_json describe_data() const override { return to_json(tasks::summarize(data_)); }

  void announce() const override {
    for (const std::string& note : data_.series.notes) spdlog::info("{}", note);
    tasks::warn_of_doubts(data_.series);
    for (const std::string& note : data_.scaler.notes) spdlog::warn("{}", note);
    std::string shape;
    for (const data::SeriesMode& mode : data_.series.modes)
      shape += fmt::format("{}{} {}", shape.empty() ? "" : " × ", mode.labels.size(), mode.name);
    spdlog::info("{}: {} × {} rows ({}); windows: {} train, {} validation, {}; model {}", data_.series.source,
                 shape, data_.series.rows(), data_.splits.rule, data_.windows.train.size(),
                 data_.windows.validation.size(),
                 test_count(reads_test(), static_cast<size_t>(data_.windows.test.size())),
                 tasks::model_title(config_));
  }

  analysis::ModelCost cost() const override {
    return analysis::forecaster_cost(config_.model, config_.model_shape(data_.series));
  }

  tasks::TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return tasks::train_forecast(config_, data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    tasks::write_forecast_report(tasks::open_forecast_run(folder.path()), data_, folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override {
    return evaluation_text(metrics[tasks::judged_part(metrics)], false);
  }

 private:
  tasks::ForecastData data_;
};

}  // namespace

void add_train_forecast(Program& program, CLI::App& parent) {
  add_training<ForecastConfigOptions, ForecastJob>(
      program, parent, "forecast",
      "Trains a forecaster, calibrates its intervals, and judges it on the test rows.",
      "modewise train forecast --data ETTh1.csv", config_help<tasks::ForecastConfig>);
}

}  // namespace modewise::cli
