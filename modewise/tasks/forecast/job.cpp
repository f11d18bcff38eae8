#include "modewise/tasks/job.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "modewise/analysis/forecaster_cost.h"
#include "modewise/core/error.h"
#include "modewise/tasks/forecast/kind.h"
#include "modewise/tasks/forecast/report.h"
#include "modewise/tasks/forecast/run.h"
#include "modewise/tasks/forecast/tables.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

class ForecastJob final : public ConfiguredJob<ForecastConfig> {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_forecast_config(file, assignments);
    require(!config_.data.path.empty() || !config_.data.simulate.empty(), ErrorKind::usage,
            "no data: give --data FILE, or --set data.simulate=lorenz96");
  }

  void load_data() override {
    data_ = load_forecast_data(config_);
    models::validate(config_.model, config_.model_shape(data_.series));
  }

  std::string data_hash() const override { return data_.hash; }

  nlohmann::ordered_json describe_data() const override { return to_json(summarize(data_)); }

  void announce() const override {
    for (const std::string& note : data_.series.notes) spdlog::info("{}", note);
    warn_of_doubts(data_.series);
    for (const std::string& note : data_.scaler.notes) spdlog::warn("{}", note);
    spdlog::info("{}: {} × {} rows ({}); windows: {} train, {} validation, {}; model {}", data_.series.source,
                 modes_text(data_.series), data_.series.rows(), data_.splits.rule, data_.windows.train.size(),
                 data_.windows.validation.size(),
                 test_count(reads_test(), static_cast<size_t>(data_.windows.test.size())),
                 model_title(config_));
  }

  analysis::ModelCost cost() const override {
    return analysis::forecaster_cost(config_.model, config_.model_shape(data_.series));
  }

  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return train_forecast(config_, data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    write_forecast_report(open_forecast_run(folder.path()), data_, folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override {
    return forecast_text(metrics[judged_part(metrics)], false);
  }

 private:
  ForecastData data_;
};

}  // namespace

std::unique_ptr<Job> make_forecast_job() {
  return std::make_unique<ForecastJob>();
}

}  // namespace modewise::tasks
