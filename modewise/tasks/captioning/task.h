#pragma once
// Training task of captioning: images with some of their captions, cross entropy or self-critical training,
// and validation metrics.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modewise/metrics/cider.h"
#include "modewise/models/captioning/caption_search.h"
#include "modewise/tasks/captioning/config.h"
#include "modewise/train/loop/module_task.h"

namespace modewise::tasks {

/// CIDEr-D reward of captions as word ids, with the training captions as references and corpus. EOS counts as
/// a word, so that truncated captions score less; words out of the vocabulary have ids beyond it.
class CaptionReward {
 public:
  explicit CaptionReward(const data::CaptionSet& set);
  /// Reward 0 … 10 of a caption for training image `sample` (0 … set.train.size() − 1).
  double of(int64_t sample, const models::FoundCaption& caption) const;

 private:
  std::vector<std::vector<std::vector<int32_t>>> references_;  // [image, caption, word]
  std::optional<metrics::CiderScorer> scorer_;
};

class CaptioningTask final : public train::ModuleTask {
 public:
  /// `config` and `set` must outlive the task; `hash`: hash_of(set).
  CaptioningTask(const CaptioningConfig& config, const data::CaptionSet& set, std::string hash,
                 std::shared_ptr<models::Captioner> model);

  torch::nn::Module& module() override { return *model_; }
  int64_t training_samples() const override { return std::ssize(set_.train); }
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override;
  /// Images with more than captions_per_picture captions get different ones in each batch.
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t batch) const override;
  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override;
  std::vector<double> loss_counts(const train::Batch& batch) const override;
  at::Tensor loss_share(const train::Batch& part, uint64_t seed, uint64_t step,
                        std::span<const double> all) override;
  /// Word ids [n, max_words] of the caption of each image, 0 after the end and for images of other ranks;
  /// then sum and count of WordLoss.
  at::Tensor sums(const train::Share& share) override;
  /// val_cider_d and val_bleu_4 of greedy search, and val_loss in nats per word without smoothing; on the
  /// training images if there are no validation images.
  train::Metrics metrics_of(const at::Tensor& sums) override;
  train::Criterion criterion() const override;
  std::string data_hash() const override { return hash_; }

 private:
  struct Batch;
  /// Whether `step` belongs to the self-critical epochs.
  bool is_rewarded(uint64_t step) const;
  at::Tensor word_loss(const Batch& batch, uint64_t seed, uint64_t step);
  at::Tensor reward_loss(const Batch& batch, uint64_t seed, uint64_t step);

  const CaptioningConfig& config_;
  const data::CaptionSet& set_;
  std::string hash_;
  std::shared_ptr<models::Captioner> model_;
  std::optional<CaptionReward> reward_;
  int64_t batches_per_epoch_;
};

}  // namespace modewise::tasks
