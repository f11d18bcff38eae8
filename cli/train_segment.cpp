#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/run_training.h"
#include "cli/segment_options.h"
#include "modewise/core/error.h"
#include "modewise/tasks/segment/report.h"
#include "modewise/tasks/segment/run.h"

namespace modewise::cli {
namespace {

class SegmentJob final : public ConfiguredJob<tasks::SegmentConfig> {
 public:
  std::string task() const override { return "segment"; }

  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_segment_options(file, assignments);
    require(!config_.data.path.empty() && !config_.data.masks.empty(), ErrorKind::usage,
            "no data: give --data IMAGE --masks MASK, or a folder of each");
  }

  void load_data() override {
    data_.emplace(config_.data, models::window_multiple(config_.model));
    models::validate(config_.model, tasks::model_shape(data_->summary()));
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
        "validation and {} test areas; model {}",
        data_->source(), data_->files().size(), data_->files().size() == 1 ? "" : "s", data_->times(),
        data_->times() == 1 ? "" : "s", data_->bands(), names.size(), fmt::join(names, ", "),
        data_->split_rule(), data_->training_tiles().size(), data_->window(),
        data_->areas(data::SceneSplit::validation).size(), data_->areas(data::SceneSplit::test).size(),
        tasks::model_title(config_));
  }

  tasks::TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return tasks::train_segment(config_, *data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    tasks::write_segment_report(tasks::open_segment_run(folder.path()), *data_, folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override {
    return segment_text(metrics.contains("test") ? metrics["test"] : metrics["validation"], false);
  }

 private:
  std::optional<data::SceneSet> data_;
};

}  // namespace

void add_train_segment(Program& program, CLI::App& parent) {
  add_training<SegmentConfigOptions, SegmentJob>(
      program, parent, "segment", "Trains a segmenter of images, and judges it on the part held back.",
      "modewise train segment --data scene.tif --masks classes.tif", config_help<tasks::SegmentConfig>);
}

}  // namespace modewise::cli
