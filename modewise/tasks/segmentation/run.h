#pragma once
// Segmentation run.
//
// Besides the trainer's files it has data.json (classes, bands, scale, window); metrics.json has "validation"
// and, if training reads the test split, "test".

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "modewise/data/segmentation/segmentation_set.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/tasks/run/run.h"
#include "modewise/tasks/segmentation/config.h"

namespace modewise::tasks {

class SegmentationRun final : public Run {
 public:
  explicit SegmentationRun(SegmentationConfig settings) : config(std::move(settings)) {}

  RunSettings settings() override { return settings_of(config); }
  void load(const DataRequest& request) override;
  std::string hash() const override { return set->hash(); }
  nlohmann::ordered_json describe() const override;
  void restore(const nlohmann::ordered_json& json, const std::string& file) override;
  void announce() override;

  void make_model(Purpose purpose) override;
  torch::nn::Module& module() const override { return *model; }
  nn::ModelCost cost() const override;
  std::unique_ptr<train::ModuleTask> task() override;

  /// pixels, accuracy, mean_iou, micro_iou, mean_recall, kappa, classes (id, name, pixels, iou, precision,
  /// recall, f1), confusion, one row per true class, and the mean "loss". Several `workers` distribute the
  /// areas.
  nlohmann::ordered_json evaluate(const std::string& split, bool keep, train::Workers& workers) override;
  void finish(nlohmann::ordered_json& metrics) override;
  /// One row per evaluation; then classes and confusion matrix of the last one.
  std::vector<ResultTable> tables(const nlohmann::ordered_json& metrics) const override;
  /// With metrics by class, figures of test areas and attention maps.
  report::HtmlPage page(const nlohmann::ordered_json& metrics) override;

  /// Areas of a split of the loaded images; all of them if they are not the training data of the run.
  const std::vector<data::SceneArea>& areas(const std::string& split) const;
  bool whole() const { return whole_; }

  SegmentationConfig config;
  data::SceneSummary summary;                // of the training images
  std::optional<data::SegmentationSet> set;  // the loaded images
  std::shared_ptr<models::Segmenter> model;

 private:
  bool whole_ = false;  // the set has no split: all its areas are in the test split
};

/// "train", "validation"; any other name is the test split.
data::SceneSplit scene_split(const std::string& name);

}  // namespace modewise::tasks
