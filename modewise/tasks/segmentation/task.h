#pragma once
// Segmentation as the trainer sees it: varied windows of the training tiles, cross entropy, and the
// validation areas covered by windows.

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "modewise/data/segmentation/segmentation_set.h"
#include "modewise/metrics/confusion_matrix.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/nn/layers/constant.h"
#include "modewise/tasks/rank_tracking.h"
#include "modewise/tasks/segmentation/config.h"
#include "modewise/train/loop/module_task.h"

namespace modewise::tasks {

/// Cross entropy of logits [B, N, N, C] against labels [B, N, N] int64, pixels below 0 left out: the weighted
/// mean over the others of the whole batch (0 when there are none), summed along fixed paths. `weights` [C]
/// or undefined.
at::Tensor segment_loss(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& weights);

/// The weights of `segment.class_weights` from the training pixels of each class, scaled so that their mean
/// over these pixels is 1; empty for "none". Classes without a pixel weigh 0.
std::vector<double> class_weights(const std::string& rule, const std::vector<int64_t>& pixels);

/// Confusion and cross entropy over areas of a set.
struct SegmentationErrors {
  metrics::ConfusionMatrix confusion;
  double loss = 0;  // unweighted, summed over the pixels
  /// NaN without pixels.
  double mean_loss() const;
};
/// Of several `workers`, who share the areas, the lead has them.
SegmentationErrors evaluate_areas(models::Segmenter& model, const data::SegmentationSet& set,
                             std::span<const data::SceneArea> areas, const SegmentationOptions& options,
                             train::Workers& workers = train::alone());

/// Up to `wanted` of the windows that cover the areas without overlap, evenly spread. An area smaller than a
/// window is one window that reaches beyond it.
std::vector<data::SceneArea> spread_windows(const std::vector<data::SceneArea>& areas, int64_t side,
                                            int64_t wanted);

/// The images of `areas`, whose sides are the set's window: image [B, T, N, N, bands], valid [B, T, N, N].
models::SegmentationInput gather_windows(const data::SegmentationSet& set, const std::vector<data::SceneArea>& areas);

class SegmentationTask final : public train::ModuleTask {
 public:
  /// `data` must outlive the task.
  SegmentationTask(const SegmentationConfig& config, const data::SegmentationSet& data);

  torch::nn::Module& module() override { return *model_; }
  int64_t training_samples() const override { return static_cast<int64_t>(data_.training_tiles().size()); }
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override {
    return load_batch(samples, 0);
  }
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t batch) const override;
  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override;
  std::vector<double> loss_counts(const train::Batch& batch) const override;
  at::Tensor sums(const train::Share& share) override;
  /// val_accuracy, val_mean_iou, val_loss, and the stable ranks that are tracked.
  train::Metrics metrics_of(const at::Tensor& sums) override;
  train::Criterion criterion() const override;
  std::string data_hash() const override { return data_.hash(); }

  models::Segmenter& model() { return *model_; }

 private:
  void track_stable_rank(train::Metrics& metrics);

  SegmentationConfig config_;
  const data::SegmentationSet& data_;
  std::shared_ptr<models::Segmenter> model_;
  std::shared_ptr<nn::Constant> weights_;  // [C] or null
  RankTracker ranks_;
};

}  // namespace modewise::tasks
