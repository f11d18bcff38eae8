#include "modewise/tasks/job.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "modewise/analysis/sequence_cost.h"
#include "modewise/core/error.h"
#include "modewise/tasks/labelled/labelled_run.h"
#include "modewise/tasks/labelled_series/kind.h"
#include "modewise/tasks/labelled_series/report.h"
#include "modewise/tasks/labelled_series/run.h"
#include "modewise/tasks/labelled_series/tables.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

class SeriesJob final : public ConfiguredJob<LabelledSeriesConfig> {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_series_config(file, assignments);
    require(!config_.data.path.empty() || !config_.data.train.empty(), ErrorKind::usage,
            "no data: give --data FOLDER with X_TRAIN.ts and X_TEST.ts, or --train FILE --test FILE");
  }

  void load_data() override {
    data_ = load_series_data(config_);
    models::validate(config_.model, config_.model_shape(data_.set));
  }

  std::string data_hash() const override { return data_.hash; }

  nlohmann::ordered_json describe_data() const override { return to_json(data_); }

  void announce() const override {
    const data::SeriesCollection& set = data_.set;
    log_notes(set);
    spdlog::info(
        "{}: series of {} variables and {} steps{}, {} classes ({}); protocol {}: {} train, {} validation, "
        "{}; model {}",
        set.source, set.variables, set.length, set.padded() ? " at most" : "", set.classes.size(),
        fmt::join(set.classes, ", "), config_.data.protocol, set.train.size(), set.validation.size(),
        test_count(reads_test(), set.test.size()), model_title(config_));
  }

  analysis::ModelCost cost() const override {
    return analysis::series_cost(config_.model, config_.model_shape(data_.set));
  }

  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return train_series_classifier(config_, data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    write_series_report(open_series_run(folder.path()), data_.set, folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override {
    return series_text(metrics[judged_part(metrics)], false);
  }

 private:
  SeriesData data_;
};

}  // namespace

std::unique_ptr<Job> make_labelled_series_job() {
  return std::make_unique<SeriesJob>();
}

}  // namespace modewise::tasks
