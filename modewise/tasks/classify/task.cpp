#include "modewise/tasks/classify/task.h"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>

#include <utility>

#include "modewise/core/random.h"
#include "modewise/data/augment.h"
#include "modewise/nn/dropout.h"
#include "modewise/tasks/classify/metrics.h"
#include "modewise/tasks/classify/scores.h"
#include "modewise/tasks/rank_tracking.h"

namespace modewise::tasks {
namespace {

constexpr uint32_t mixup_site = 6;

struct ClassifyBatch final : train::Batch {
  data::VolumeBatch volumes;
};

}  // namespace

std::vector<double> balanced_weights(const std::vector<int64_t>& counts) {
  int64_t total = 0;
  for (const int64_t count : counts) total += count;
  std::vector<double> weights;
  for (const int64_t count : counts)
    weights.push_back(count > 0 ? static_cast<double>(total) /
                                      (static_cast<double>(counts.size()) * static_cast<double>(count))
                                : 0.0);
  return weights;
}

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& class_weights,
                         double smoothing) {
  const at::Tensor log_scores = at::log_softmax(logits, -1);
  const at::Tensor own = log_scores.gather(1, labels.unsqueeze(1)).squeeze(1);
  if (!class_weights.defined())
    return (own.mul(1 - smoothing) + log_scores.mean(1).mul(smoothing)).mean().neg();
  const at::Tensor weights = class_weights.to(logits.scalar_type());
  const at::Tensor each = weights.index_select(0, labels);
  const at::Tensor spread = log_scores.mul(weights).mean(1);
  return (own.mul(each).mul(1 - smoothing) + spread.mul(smoothing)).sum().div(each.sum()).neg();
}

ClassifyTask::ClassifyTask(const ClassifyConfig& config, const data::VolumeSet& set, std::string hash)
    : config_(config),
      set_(set),
      hash_(std::move(hash)),
      model_(models::make_volume_classifier(config.model, config.model_shape(set),
                                            static_cast<uint64_t>(config.train.seed))) {
  if (config.classify.class_weights == "balanced")
    class_weights_ = at::tensor(balanced_weights(set.class_counts(set.train)), at::kDouble);
}

data::VolumeBatch ClassifyTask::gather(std::span<const int64_t> samples) const {
  std::vector<int64_t> chosen;
  for (const int64_t i : samples) chosen.push_back(set_.train[static_cast<size_t>(i)]);
  return data::gather_volumes(set_, chosen, model_->shape().size);
}

std::unique_ptr<train::Batch> ClassifyTask::load(std::span<const int64_t> samples) const {
  auto batch = std::make_unique<ClassifyBatch>();
  batch->volumes = gather(samples);
  return batch;
}

std::unique_ptr<train::Batch> ClassifyTask::load_batch(std::span<const int64_t> samples,
                                                       int64_t number) const {
  auto batch = std::make_unique<ClassifyBatch>();
  batch->volumes = gather(samples);
  data::augment(batch->volumes, config_.augment, static_cast<uint64_t>(config_.train.seed),
                static_cast<uint64_t>(number));
  return batch;
}

at::Tensor ClassifyTask::loss(const train::Batch& batch, uint64_t seed, uint64_t step) {
  const data::VolumeBatch& volumes = static_cast<const ClassifyBatch&>(batch).volumes;
  nn::set_dropout_step(*model_, seed, step);
  const ClassifyOptions& options = config_.classify;
  const int64_t count = volumes.labels.size(0);
  if (options.mixup == 0 || count < 2)
    return cross_entropy(model_->forward(model_input(volumes)), volumes.labels, class_weights_,
                         options.label_smoothing);
  // Each sample gets a share of the next one of the batch, whose order is random already.
  const double share = options.mixup * RandomStream{seed, mixup_site, step}.uniform(0);
  models::VolumeInput mixed = model_input(volumes);
  mixed.values = volumes.values.mul(1 - share) + volumes.values.roll(1, 0).mul(share);
  if (mixed.valid.defined()) mixed.valid = mixed.valid.logical_or(mixed.valid.roll(1, 0));
  const at::Tensor logits = model_->forward(mixed);
  return cross_entropy(logits, volumes.labels, class_weights_, options.label_smoothing).mul(1 - share) +
         cross_entropy(logits, volumes.labels.roll(1, 0), class_weights_, options.label_smoothing).mul(share);
}

train::Metrics ClassifyTask::evaluate() {
  const ScoreTable table = score_volumes(*model_, config_, set_, set_.validation);
  train::Metrics metrics = {{"val_auc", defined_auc(table)},
                            {"val_accuracy", medmnist_accuracy(table)},
                            {"val_loss", class_metrics(table).loss}};
  if (config_.train.tracks("stable_rank")) track_stable_rank(metrics);
  return metrics;
}

void ClassifyTask::track_stable_rank(train::Metrics& metrics) const {
  std::vector<int64_t> chosen;
  for (const int64_t i : tracked_samples(std::ssize(set_.validation)))
    chosen.push_back(set_.validation[static_cast<size_t>(i)]);
  data::VolumeBatch batch = data::gather_volumes(set_, chosen, model_->shape().size);
  data::transform_for_evaluation(batch, config_.augment);
  const models::VolumeInput input = model_input(batch);
  add_stable_ranks(metrics, analysis::layer_ranks(model_->attention_maps(input),
                                                  model_->full_attention(input), model_->token_sizes()));
}

train::Criterion ClassifyTask::criterion() const {
  return {"val_" + config_.classify.select, config_.classify.select == "loss"};
}

}  // namespace modewise::tasks
