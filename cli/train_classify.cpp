#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "cli/classify_options.h"
#include "cli/commands.h"
#include "cli/run_training.h"
#include "modewise/analysis/image_cost.h"
#include "modewise/core/error.h"
#include "modewise/tasks/test_part.h"
#include "modewise/tasks/volumes/report.h"
#include "modewise/tasks/volumes/run.h"

namespace modewise::cli {
namespace {

class ClassifyJob final : public ConfiguredJob<tasks::ClassifyConfig> {
 public:
  std::string task() const override { return "classify"; }

  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_classify_options(file, assignments);
    require(!config_.data.path.empty(), ErrorKind::usage,
            "no data: give --data FILE, such as adrenalmnist3d.npz or a folder of NIfTI files");
  }

  void load_data() override {
    data_ = tasks::load_classify_data(config_);
    config_.model.choose_patch(config_.model_shape(data_.set));
    models::validate(config_.model, config_.model_shape(data_.set));
  }

  std::string data_hash() const override { return data_.hash; }

  nlohmann::ordered_json describe_data() const override { return to_json(data_); }

  void announce() const override {
    const data::VolumeSet& set = data_.set;
    for (size_t i = 0; i < set.notes.size(); ++i)
      spdlog::log(i < set.warnings ? spdlog::level::warn : spdlog::level::info, "{}", set.notes[i]);
    spdlog::info("{}: volumes of {} voxels, {} classes ({}); {} train, {} validation, {}; model {}",
                 set.source, fmt::join(set.size(), " × "), set.classes.size(), fmt::join(set.classes, ", "),
                 set.train.size(), set.validation.size(), test_count(reads_test(), set.test.size()),
                 tasks::model_title(config_));
  }

  analysis::ModelCost cost() const override {
    return analysis::volume_cost(config_.model, config_.model_shape(data_.set));
  }

  tasks::TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return tasks::train_classifier(config_, data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    tasks::write_classify_report(tasks::open_classify_run(folder.path()), data_.set,
                                 folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override {
    return classify_text(metrics[tasks::judged_part(metrics)], false);
  }

 private:
  tasks::ClassifyData data_;
};

}  // namespace

void add_train_classify(Program& program, CLI::App& parent) {
  add_training<ClassifyConfigOptions, ClassifyJob>(
      program, parent, "classify", "Trains a classifier of volumes, and judges it on the test volumes.",
      "modewise train classify --data adrenalmnist3d.npz", config_help<tasks::ClassifyConfig>);
}

}  // namespace modewise::cli
