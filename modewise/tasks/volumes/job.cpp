#include "modewise/tasks/job.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "modewise/analysis/image_cost.h"
#include "modewise/core/error.h"
#include "modewise/tasks/labelled/labelled_run.h"
#include "modewise/tasks/test_part.h"
#include "modewise/tasks/volumes/kind.h"
#include "modewise/tasks/volumes/report.h"
#include "modewise/tasks/volumes/run.h"
#include "modewise/tasks/volumes/tables.h"

namespace modewise::tasks {
namespace {

class ClassifyJob final : public ConfiguredJob<ClassifyConfig> {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_classify_config(file, assignments);
    require(!config_.data.path.empty(), ErrorKind::usage,
            "no data: give --data FILE, such as adrenalmnist3d.npz or a folder of NIfTI files");
  }

  void load_data() override {
    data_ = load_classify_data(config_);
    config_.model.choose_patch(config_.model_shape(data_.set));
    models::validate(config_.model, config_.model_shape(data_.set));
  }

  std::string data_hash() const override { return data_.hash; }

  nlohmann::ordered_json describe_data() const override { return to_json(data_); }

  void announce() const override {
    const data::VolumeSet& set = data_.set;
    log_notes(set);
    spdlog::info("{}: volumes of {} voxels, {} classes ({}); {} train, {} validation, {}; model {}",
                 set.source, fmt::join(set.size(), " × "), set.classes.size(), fmt::join(set.classes, ", "),
                 set.train.size(), set.validation.size(), test_count(reads_test(), set.test.size()),
                 model_title(config_));
  }

  analysis::ModelCost cost() const override {
    return analysis::volume_cost(config_.model, config_.model_shape(data_.set));
  }

  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return train_classifier(config_, data_, folder, resume, accept_changes);
  }

  void write_report(const train::RunFolder& folder) override {
    write_classify_report(open_classify_run(folder.path()), data_.set, folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override {
    return classify_text(metrics[judged_part(metrics)], false);
  }

 private:
  ClassifyData data_;
};

}  // namespace

std::unique_ptr<Job> make_volumes_job() {
  return std::make_unique<ClassifyJob>();
}

}  // namespace modewise::tasks
