#pragma once
// Classification as the trainer sees it: varied training samples, cross entropy, metrics over the validation
// samples; and the training of a whole run.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/tasks/classification/class_loss.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/rank_tracking.h"
#include "modewise/tasks/trained_run.h"
#include "modewise/train/loop/module_task.h"

namespace modewise::tasks {

class ClassTask final : public train::ModuleTask {
 public:
  /// `run` has its samples, and must outlive the task; makes its model.
  explicit ClassTask(ClassificationRun& run);

  torch::nn::Module& module() override { return run_.model(); }
  int64_t training_samples() const override { return std::ssize(run_.set().train); }
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override;
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t batch) const override;
  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override;
  std::vector<double> loss_counts(const train::Batch& batch) const override;
  /// The scores of all validation samples [n, K], those of other shares 0.
  at::Tensor sums(const train::Share& share) override;
  /// val_ before each of the run's figures. Where a class does not occur, val_auc leaves it out.
  train::Metrics metrics_of(const at::Tensor& sums) override;
  /// The attention to a validation sample, where that is cheap to form.
  std::vector<train::Image> figures() override;
  train::Criterion criterion() const override;
  double rate_factor(std::string_view parameter) const override { return run_.rate_factor(parameter); }
  std::string data_hash() const override { return hash_; }

 private:
  ClassificationRun& run_;
  std::string hash_;
  ClassLoss class_loss_;
  RankTracker ranks_;
};

/// Trains, evaluates on the validation and test samples, and writes all of it. With `resume` the run goes on
/// where it was. Throws train::EvaluationInterrupted when a signal came after the training.
TrainedRun train_classifier(ClassificationRun& run, train::RunFolder& folder, bool resume, bool accept_changes);

/// The evaluation of a split. Where it is the test part of a run that left it unread, what training would
/// have written is written: metrics.json's "test", predictions.npz. `own`: whether the samples are the run's
/// own.
nlohmann::ordered_json evaluate_split(const OpenedRun& opened, const std::string& split, bool own);

}  // namespace modewise::tasks
