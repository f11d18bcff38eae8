#pragma once
// Classification as the trainer sees it: varied training volumes, cross entropy, AUC over the validation
// volumes.

#include <memory>
#include <vector>

#include "modewise/data/volumes/volumes.h"
#include "modewise/models/volumes/volume_classifier.h"
#include "modewise/tasks/volumes/config.h"
#include "modewise/train/task.h"

namespace modewise::tasks {

class ClassifyTask final : public train::Task {
 public:
  /// `set` must outlive the task; `hash` is its hash_of().
  ClassifyTask(const ClassifyConfig& config, const data::VolumeSet& set, std::string hash);

  torch::nn::Module& module() override { return *model_; }
  int64_t training_samples() const override { return std::ssize(set_.train); }
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override;
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t batch) const override;
  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override;
  /// val_auc, val_accuracy, val_loss. Where a class does not occur, val_auc leaves it out.
  train::Metrics evaluate() override;
  train::Criterion criterion() const override;
  std::string data_hash() const override { return hash_; }

  models::VolumeClassifier& model() { return *model_; }

 private:
  data::VolumeBatch gather(std::span<const int64_t> samples) const;
  void track_stable_rank(train::Metrics& metrics) const;

  ClassifyConfig config_;
  const data::VolumeSet& set_;
  std::string hash_;
  std::shared_ptr<models::VolumeClassifier> model_;
  ClassLoss class_loss_;
};

}  // namespace modewise::tasks
