#include "modewise/tasks/job.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "modewise/analysis/image_cost.h"
#include "modewise/core/error.h"
#include "modewise/tasks/scenes/kind.h"
#include "modewise/tasks/scenes/report.h"
#include "modewise/tasks/scenes/run.h"
#include "modewise/tasks/scenes/tables.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

class SegmentJob final : public ConfiguredJob<SegmentConfig> {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_segment_config(file, assignments);
    require(!config_.data.path.empty() && !config_.data.masks.empty(), ErrorKind::usage,
            "no data: give --data IMAGE --masks MASK, or a folder of each");
  }

  void load_data() override {
    data_.emplace(config_.data, models::window_multiple(config_.model), config_.train.test);
    models::validate(config_.model, model_shape(data_->summary()));
  }

  std::string data_hash() const override { return data_->hash(); }

  nlohmann::ordered_json describe_data() const override { return to_json(data_->summary()); }

  void announce() const override {
    for (const std::string& note : data_->notes()) spdlog::info("{}", note);
    std::vector<std::string> names;
    for (const data::SceneClass& one : data_->classes().classes()) names.push_back(one.name);
    spdlog::info(
        "{}: {} image{}, {} date{} of {} bands, {} classes ({}); split: {}; {} training windows of {} pixels "
        "an epoch, {} "
        "validation areas, {}; model {}",
        data_->source(), data_->files().size(), data_->files().size() == 1 ? "" : "s", data_->times(),
        data_->times() == 1 ? "" : "s", data_->bands(), names.size(), fmt::join(names, ", "),
        data_->split_rule(), data_->training_tiles().size(), data_->window(),
        data_->areas(data::SceneSplit::validation).size(),
        test_count(reads_test(), data_->areas(data::SceneSplit::test).size()), model_title(config_));
  }

  analysis::ModelCost cost() const override {
    return analysis::segmenter_cost(config_.model, model_shape(data_->summary()));
  }

  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return train_segment(config_, *data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    write_segment_report(open_segment_run(folder.path()), *data_, folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override {
    return segment_text(metrics[judged_part(metrics)], false);
  }

 private:
  std::optional<data::SceneSet> data_;
};

}  // namespace

std::unique_ptr<Job> make_scenes_job() {
  return std::make_unique<SegmentJob>();
}

}  // namespace modewise::tasks
