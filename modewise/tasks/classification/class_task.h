#pragma once
// Training task of classifiers: augmented training samples, cross entropy, validation metrics.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/tasks/classification/class_loss.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/run/rank_tracking.h"
#include "modewise/train/loop/module_task.h"

namespace modewise::tasks {

class ClassTask final : public train::ModuleTask {
 public:
  /// `run` has its samples and its model, and must outlive the task.
  explicit ClassTask(ClassificationRun& run);

  torch::nn::Module& module() override { return run_.model(); }
  int64_t training_samples() const override { return std::ssize(run_.set().train); }
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override;
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t batch) const override;
  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override;
  std::vector<double> loss_counts(const train::Batch& batch) const override;
  /// Scores of all validation samples [n, K]; 0 for samples of other ranks.
  at::Tensor sums(const train::Share& share) override;
  /// The run's metrics with the prefix val_. val_auc skips classes that do not occur.
  train::Metrics metrics_of(const at::Tensor& sums) override;
  /// Attention maps of a validation sample, if they are small.
  std::vector<train::Image> images() override;
  train::Criterion criterion() const override;
  double rate_factor(std::string_view parameter) const override { return run_.rate_factor(parameter); }
  std::string data_hash() const override { return hash_; }

 private:
  ClassificationRun& run_;
  std::string hash_;
  ClassLoss class_loss_;
  RankTracker ranks_;
};

/// Means of the run's figures over several splits.
train::Metrics figures_of(const ClassificationRun& run, std::span<const metrics::ScoreTable> parts);

}  // namespace modewise::tasks
