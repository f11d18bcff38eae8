#pragma once
// A run that classifies pictures.

#include <memory>
#include <string>
#include <vector>

#include "modewise/data/pictures/pictures.h"
#include "modewise/models/grids/grid_classifier.h"
#include "modewise/tasks/labelled/labelled_run.h"
#include "modewise/tasks/pictures/config.h"

namespace modewise::tasks {

class PicturesRun final : public LabelledRunOf<PicturesConfig, data::PictureSet, models::GridClassifier> {
 public:
  const char* task() const override { return "pictures"; }
  const char* subject() const override { return "pictures"; }
  const ClassOptions& options() const override { return config.pictures; }
  void require_data() const override;

  void load_samples(bool with_test) override;
  void load_samples_of(const std::string& path, bool with_test) override;
  std::string samples_text() const override;
  nlohmann::ordered_json describe() const override;
  void read_description(const nlohmann::ordered_json& json, const std::string& file) override;

  void make_model(bool to_train) override;
  analysis::ModelCost cost() const override;
  data::LabelledBatch gather(std::span<const int64_t> samples) const override;
  void vary(data::LabelledBatch& batch, int64_t number) const override;

  std::unique_ptr<LabelledRun> anew() const override { return std::make_unique<PicturesRun>(); }

  std::vector<std::string> figures() const override { return {"auc", "accuracy", "loss"}; }

  SampleView sample_view(int64_t sample) const override;
  std::string figure_text() const override { return "as the model gets them, before they are normalised"; }
  std::vector<std::string> mode_names() const override { return {"row", "column"}; }
  std::string combine() const override;
  std::vector<Influence> influences(const models::ClassifierInput& input, const at::Tensor& whole,
                                    int64_t most_places) const override;
  std::string removal_text() const override { return "the band becomes the picture's mean"; }

 private:
  std::vector<std::string> trained_classes_;
  at::Tensor mean_, deviation_;  // [C], of the pictures that the run was trained on
};

}  // namespace modewise::tasks
