#pragma once
// Training task of segmentation: augmented windows of training tiles, cross entropy, and validation areas.

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "modewise/data/segmentation/segmentation_set.h"
#include "modewise/metrics/confusion_matrix.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/nn/layers/constant.h"
#include "modewise/tasks/run/rank_tracking.h"
#include "modewise/tasks/segmentation/config.h"
#include "modewise/train/loop/module_task.h"

namespace modewise::tasks {

/// Cross entropy of logits [B, N, N, C] and labels [B, N, N] int64: weighted mean over all pixels of the
/// batch with labels ≥ 0 (0 if there are none), summed in a fixed order. `weights` [C] or undefined.
at::Tensor segment_loss(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& weights);

/// Class weights of `segment.class_weights` from the training pixels of each class, normalized to mean 1 over
/// these pixels; empty for "none". Classes without pixels have weight 0.
std::vector<double> class_weights(const std::string& rule, const std::vector<int64_t>& pixels);

/// Confusion and cross entropy over areas of a set.
struct SegmentationErrors {
  metrics::ConfusionMatrix confusion;
  double loss = 0;  // unweighted, sum over pixels
  /// NaN without pixels.
  double mean_loss() const;
};
/// Several `workers` distribute the areas; only rank 0 has the result.
SegmentationErrors evaluate_areas(models::Segmenter& model, const data::SegmentationSet& set,
                                  std::span<const data::SceneArea> areas, const SegmentationOptions& options,
                                  train::Workers& workers = train::single_process());

/// Up to `wanted` evenly spaced windows of a non-overlapping cover of the areas. An area smaller than a
/// window is one window that exceeds it.
std::vector<data::SceneArea> spread_windows(const std::vector<data::SceneArea>& areas, int64_t side,
                                            int64_t wanted);

/// Model input of `areas` with the set's window size: image [B, T, N, N, bands], valid [B, T, N, N].
models::SegmentationInput gather_windows(const data::SegmentationSet& set,
                                         const std::vector<data::SceneArea>& areas);

class SegmentationTask final : public train::ModuleTask {
 public:
  /// `config` and `data` must outlive the task.
  SegmentationTask(const SegmentationConfig& config, const data::SegmentationSet& data,
                   std::shared_ptr<models::Segmenter> model);

  torch::nn::Module& module() override { return *model_; }
  int64_t training_samples() const override { return static_cast<int64_t>(data_.training_tiles().size()); }
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override {
    return load_batch(samples, 0);
  }
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t batch) const override;
  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override;
  std::vector<double> loss_counts(const train::Batch& batch) const override;
  at::Tensor sums(const train::Share& share) override;
  /// val_accuracy, val_mean_iou, val_loss, and tracked stable ranks.
  train::Metrics metrics_of(const at::Tensor& sums) override;
  train::Criterion criterion() const override;
  std::string data_hash() const override { return data_.hash(); }

 private:
  void track_stable_rank(train::Metrics& metrics);

  const SegmentationConfig& config_;
  const data::SegmentationSet& data_;
  std::shared_ptr<models::Segmenter> model_;
  std::shared_ptr<nn::Constant> weights_;  // [C] or null
  RankTracker ranks_;
};

}  // namespace modewise::tasks
