#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/run_training.h"
#include "cli/series_options.h"
#include "modewise/analysis/sequence_cost.h"
#include "modewise/core/error.h"
#include "modewise/tasks/labelled_series/report.h"
#include "modewise/tasks/labelled_series/run.h"
#include "modewise/tasks/test_part.h"

namespace modewise::cli {
namespace {

class SeriesJob final : public ConfiguredJob<tasks::LabelledSeriesConfig> {
 public:
  std::string task() const override { return "series"; }

  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_series_options(file, assignments);
    require(!config_.data.path.empty() || !config_.data.train.empty(), ErrorKind::usage,
            "no data: give --data FOLDER with X_TRAIN.ts and X_TEST.ts, or --train FILE --test FILE");
  }

  void load_data() override {
    data_ = tasks::load_series_data(config_);
    models::validate(config_.model, config_.model_shape(data_.set));
  }

  std::string data_hash() const override { return data_.hash; }

  nlohmann::ordered_json describe_data() const override { return to_json(data_); }

  void announce() const override {
    const data::SeriesCollection& set = data_.set;
    for (size_t i = 0; i < set.notes.size(); ++i)
      spdlog::log(i < set.warnings ? spdlog::level::warn : spdlog::level::info, "{}", set.notes[i]);
    spdlog::info(
        "{}: series of {} variables and {} steps{}, {} classes ({}); protocol {}: {} train, {} validation, "
        "{}; model {}",
        set.source, set.variables, set.length, set.padded() ? " at most" : "", set.classes.size(),
        fmt::join(set.classes, ", "), config_.data.protocol, set.train.size(), set.validation.size(),
        test_count(reads_test(), set.test.size()), tasks::model_title(config_));
  }

  analysis::ModelCost cost() const override {
    return analysis::series_cost(config_.model, config_.model_shape(data_.set));
  }

  tasks::TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return tasks::train_series_classifier(config_, data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    tasks::write_series_report(tasks::open_series_run(folder.path()), data_.set, folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override {
    return series_text(metrics[tasks::judged_part(metrics)], false);
  }

 private:
  tasks::SeriesData data_;
};

}  // namespace

void add_train_series(Program& program, CLI::App& parent) {
  add_training<SeriesConfigOptions, SeriesJob>(
      program, parent, "series", "Trains a classifier of series, and judges it on the test cases.",
      "modewise train series --train BasicMotions_TRAIN.ts --test BasicMotions_TEST.ts",
      config_help<tasks::LabelledSeriesConfig>);
}

}  // namespace modewise::cli
