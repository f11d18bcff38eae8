#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/classify_options.h"
#include "cli/commands.h"
#include "cli/run_training.h"
#include "modewise/core/error.h"
#include "modewise/tasks/classify_report.h"
#include "modewise/tasks/classify_run.h"

namespace modewise::cli {
namespace {

class ClassifyJob final : public TrainingJob {
 public:
  explicit ClassifyJob(const ClassifyConfigOptions&) {}

  std::string task() const override { return "classify"; }

  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = load_classify_options(file, assignments);
    require(!config_.data.path.empty(), ErrorKind::usage,
            "no data: give --data FILE, such as adrenalmnist3d.npz or a folder of NIfTI files");
  }

  void load_data() override {
    data_ = tasks::load_classify_data(config_);
    models::validate(config_.model, config_.model_shape(data_.set));
  }

  std::string run_stem() const override {
    return run_stem_of(std::filesystem::path(config_.data.path).stem().string(), tasks::model_title(config_));
  }

  int64_t seed() const override { return config_.train.seed; }
  std::string data_hash() const override { return data_.hash; }

  void write_inputs(const train::RunFolder& folder) override {
    tasks::write_run_inputs(folder, config_, data_);
  }

  void announce() const override {
    const data::VolumeSet& set = data_.set;
    for (size_t i = 0; i < set.notes.size(); ++i)
      spdlog::log(i < set.warnings ? spdlog::level::warn : spdlog::level::info, "{}", set.notes[i]);
    spdlog::info("{}: volumes of {} voxels, {} classes ({}); {} train, {} validation, {} test; model {}",
                 set.source, fmt::join(set.size(), " × "), set.classes.size(), fmt::join(set.classes, ", "),
                 set.train.size(), set.validation.size(), set.test.size(), tasks::model_title(config_));
  }

  std::optional<nlohmann::ordered_json> train(train::RunFolder& folder, bool resume, bool accept_changes,
                                              int& signal) override {
    const tasks::TrainedClassifier result =
        tasks::train_classifier(config_, data_, folder, resume, accept_changes);
    signal = result.training.signal;
    if (result.training.stopped_by_signal()) return std::nullopt;
    return result.metrics;
  }

  std::string config_toml() override { return fields_of(config_).to_toml(); }

  void write_report(const train::RunFolder& folder) override {
    if (config_.output.report)
      tasks::write_classify_report(tasks::open_classify_run(folder.path()), data_.set,
                                   folder.file("report.html"));
  }

  std::string summary(const nlohmann::ordered_json& metrics) const override {
    return classify_text(metrics["test"], false);
  }

 private:
  tasks::ClassifyConfig config_;
  tasks::ClassifyData data_;
};

}  // namespace

void add_train_classify(Program& program, CLI::App& parent) {
  add_training<ClassifyConfigOptions, ClassifyJob>(
      program, parent, "classify", "Trains a classifier of volumes, and judges it on the test volumes.",
      "modewise train classify --data adrenalmnist3d.npz", classify_config_help);
}

}  // namespace modewise::cli
