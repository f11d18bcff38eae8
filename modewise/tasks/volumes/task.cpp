#include "modewise/tasks/volumes/task.h"

#include <utility>

#include "modewise/data/volumes/augment.h"
#include "modewise/nn/dropout.h"
#include "modewise/tasks/labelled/class_metrics.h"
#include "modewise/tasks/rank_tracking.h"
#include "modewise/tasks/volumes/scores.h"

namespace modewise::tasks {
namespace {

struct ClassifyBatch final : train::Batch {
  data::VolumeBatch volumes;
};

}  // namespace

ClassifyTask::ClassifyTask(const ClassifyConfig& config, const data::VolumeSet& set, std::string hash)
    : config_(config),
      set_(set),
      hash_(std::move(hash)),
      model_(models::make_volume_classifier(config.model, config.model_shape(set),
                                            static_cast<uint64_t>(config.train.seed))),
      class_loss_(config.classify, set.class_counts(set.train)) {}

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
  const models::VolumeInput input = model_input(volumes);
  return class_loss_(
      input.values, input.valid, volumes.labels,
      [&](const at::Tensor& values, const at::Tensor& valid) {
        return model_->forward({values, valid});
      },
      seed, step);
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
