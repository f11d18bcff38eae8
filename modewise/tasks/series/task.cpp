#include "modewise/tasks/series/task.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <utility>

#include "modewise/core/random.h"
#include "modewise/core/stop_signal.h"
#include "modewise/nn/dropout.h"
#include "modewise/nn/evaluation_mode.h"
#include "modewise/tasks/classify/task.h"

namespace modewise::tasks {
namespace {

constexpr uint32_t case_mixup_site = 6;

struct CaseBatch final : train::Batch {
  data::SeriesBatch cases;
};

models::SeriesInput input_of(const data::SeriesBatch& batch) {
  return {batch.values, batch.valid};
}

}  // namespace

SeriesTask::SeriesTask(const SeriesConfig& config, const data::SeriesCollection& set, std::string hash)
    : config_(config),
      set_(set),
      hash_(std::move(hash)),
      model_(models::make_series_classifier(config.model, config.model_shape(set),
                                            static_cast<uint64_t>(config.train.seed))) {
  if (config.series.class_weights == "balanced")
    class_weights_ = at::tensor(balanced_weights(set.class_counts(set.train)), at::kDouble);
  if (config.model.name != "nearest") return;
  const data::SeriesBatch all = data::gather_cases(set, set.train, set.length, set.padded());
  model_->remember(input_of(all), all.labels);
}

data::SeriesBatch SeriesTask::gather(std::span<const int64_t> samples) const {
  std::vector<int64_t> chosen;
  for (const int64_t i : samples) chosen.push_back(set_.train[static_cast<size_t>(i)]);
  return data::gather_cases(set_, chosen, model_->shape().length, model_->shape().padded);
}

std::unique_ptr<train::Batch> SeriesTask::load(std::span<const int64_t> samples) const {
  auto batch = std::make_unique<CaseBatch>();
  batch->cases = gather(samples);
  return batch;
}

std::unique_ptr<train::Batch> SeriesTask::load_batch(std::span<const int64_t> samples, int64_t number) const {
  auto batch = std::make_unique<CaseBatch>();
  batch->cases = gather(samples);
  data::vary(batch->cases, config_.vary, static_cast<uint64_t>(config_.train.seed),
             static_cast<uint64_t>(number));
  return batch;
}

at::Tensor SeriesTask::loss(const train::Batch& batch, uint64_t seed, uint64_t step) {
  const data::SeriesBatch& cases = static_cast<const CaseBatch&>(batch).cases;
  nn::set_dropout_step(*model_, seed, step);
  const SeriesOptions& options = config_.series;
  const auto entropy = [&](const at::Tensor& logits, const at::Tensor& labels) {
    return cross_entropy(logits, labels, class_weights_, options.label_smoothing);
  };
  if (options.mixup == 0 || cases.labels.size(0) < 2)
    return entropy(model_->forward(input_of(cases)), cases.labels);
  // Each case gets a share of the next one of the batch, whose order is random already.
  const double share = options.mixup * RandomStream{seed, case_mixup_site, step}.uniform(0);
  models::SeriesInput mixed = input_of(cases);
  mixed.values = cases.values.mul(1 - share) + cases.values.roll(1, 0).mul(share);
  if (mixed.valid.defined()) mixed.valid = mixed.valid.logical_or(mixed.valid.roll(1, 0));
  const at::Tensor logits = model_->forward(mixed);
  return entropy(logits, cases.labels).mul(1 - share) + entropy(logits, cases.labels.roll(1, 0)).mul(share);
}

train::Metrics SeriesTask::evaluate() {
  const ClassMetrics metrics = class_metrics(score_cases(*model_, config_, set_, set_.validation));
  return {{"val_accuracy", metrics.accuracy}, {"val_loss", metrics.loss}};
}

train::Criterion SeriesTask::criterion() const {
  return {"val_" + config_.series.select, config_.series.select == "loss"};
}

ScoreTable score_cases(models::SeriesClassifier& model, const SeriesConfig& config,
                       const data::SeriesCollection& set, std::span<const int64_t> samples) {
  const at::NoGradGuard no_grad;
  const nn::EvaluationMode evaluation(model);
  ScoreTable table;
  table.classes = model.shape().classes;
  const auto step = static_cast<size_t>(config.series.evaluation_batch);
  for (size_t begin = 0; begin < samples.size(); begin += step) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    const auto part = samples.subspan(begin, std::min(step, samples.size() - begin));
    const data::SeriesBatch batch = data::gather_cases(set, part, model.shape().length, model.shape().padded);
    const at::Tensor scores = at::softmax(model.forward(input_of(batch)).to(at::kDouble), -1).contiguous();
    const double* values = scores.const_data_ptr<double>();
    table.scores.insert(table.scores.end(), values, values + scores.numel());
    for (const int64_t i : part) table.labels.push_back(set.labels[static_cast<size_t>(i)]);
  }
  return table;
}

}  // namespace modewise::tasks
