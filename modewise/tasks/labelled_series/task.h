#pragma once
// Classification of series as the trainer sees it: varied training cases, cross entropy, loss and accuracy
// over the validation cases.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/labelled_series/series_collection.h"
#include "modewise/models/labelled_series/series_classifier.h"
#include "modewise/tasks/labelled/class_metrics.h"
#include "modewise/tasks/labelled_series/config.h"
#include "modewise/train/task.h"

namespace modewise::tasks {

class SeriesTask final : public train::Task {
 public:
  /// `set` must outlive the task; `hash` is its hash_of().
  SeriesTask(const LabelledSeriesConfig& config, const data::SeriesCollection& set, std::string hash);

  torch::nn::Module& module() override { return *model_; }
  int64_t training_samples() const override { return std::ssize(set_.train); }
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override;
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t batch) const override;
  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override;
  /// val_accuracy, val_loss.
  train::Metrics evaluate() override;
  train::Criterion criterion() const override;
  std::string data_hash() const override { return hash_; }

  models::SeriesClassifier& model() { return *model_; }

 private:
  data::SeriesBatch gather(std::span<const int64_t> samples) const;

  LabelledSeriesConfig config_;
  const data::SeriesCollection& set_;
  std::string hash_;
  std::shared_ptr<models::SeriesClassifier> model_;
  ClassLoss class_loss_;
};

/// Softmax of the logits over cases of a set, without gradients; labels as the set has them. Throws
/// train::EvaluationInterrupted when a stop signal came.
ScoreTable score_cases(models::SeriesClassifier& model, const LabelledSeriesConfig& config,
                       const data::SeriesCollection& set, std::span<const int64_t> samples);

}  // namespace modewise::tasks
