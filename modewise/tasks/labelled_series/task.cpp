#include "modewise/tasks/labelled_series/task.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <utility>

#include "modewise/core/stop_signal.h"
#include "modewise/nn/dropout.h"
#include "modewise/nn/evaluation_mode.h"

namespace modewise::tasks {
namespace {

struct CaseBatch final : train::Batch {
  data::SeriesBatch cases;
};

models::SeriesInput input_of(const data::SeriesBatch& batch) {
  return {batch.values, batch.valid};
}

}  // namespace

SeriesTask::SeriesTask(const LabelledSeriesConfig& config, const data::SeriesCollection& set,
                       std::string hash)
    : config_(config),
      set_(set),
      hash_(std::move(hash)),
      model_(models::make_series_classifier(config.model, config.model_shape(set),
                                            static_cast<uint64_t>(config.train.seed))),
      class_loss_(config.series, set.class_counts(set.train)) {
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
  return class_loss_(
      cases.values, cases.valid, cases.labels,
      [&](const at::Tensor& values, const at::Tensor& valid) {
        return model_->forward({values, valid});
      },
      seed, step);
}

train::Metrics SeriesTask::evaluate() {
  const ClassMetrics metrics = class_metrics(score_cases(*model_, config_, set_, set_.validation));
  return {{"val_accuracy", metrics.accuracy}, {"val_loss", metrics.loss}};
}

train::Criterion SeriesTask::criterion() const {
  return {"val_" + config_.series.select, config_.series.select == "loss"};
}

ScoreTable score_cases(models::SeriesClassifier& model, const LabelledSeriesConfig& config,
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
