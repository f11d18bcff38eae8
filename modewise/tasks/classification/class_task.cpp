#include "modewise/tasks/classification/class_task.h"

#include <utility>

#include "modewise/metrics/agreement.h"
#include "modewise/nn/layers/device.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/tasks/run/attention_figures.h"
#include "modewise/tasks/run/model_output.h"

namespace modewise::tasks {
namespace {

struct ClassBatch final : train::Batch {
  data::LabelledBatch samples;
};

double figure_of(const std::string& name, const metrics::ScoreTable& table,
                 const metrics::ClassMetrics& metrics) {
  if (name == "auc") return metrics::defined_auc(table);
  if (name == "accuracy") return metrics.accuracy;
  if (name == "matthews") return metrics::matthews(metrics.confusion, table.classes);
  if (name == "f1") return metrics::f1(metrics.confusion, table.classes, table.classes - 1);
  return metrics.loss;
}

}  // namespace

train::Metrics figures_of(const ClassificationRun& run, std::span<const metrics::ScoreTable> parts) {
  std::vector<metrics::ClassMetrics> evaluated;
  for (const metrics::ScoreTable& part : parts) evaluated.push_back(metrics::class_metrics(part));
  train::Metrics figures;
  for (const std::string& name : run.about().figures) {
    double sum = 0;
    for (size_t p = 0; p < parts.size(); ++p) sum += figure_of(name, parts[p], evaluated[p]);
    figures.set(name, sum / static_cast<double>(parts.size()));
  }
  return figures;
}

ClassTask::ClassTask(ClassificationRun& run)
    : run_(run), hash_(run.hash()), class_loss_(run.options(), run.set().class_counts(run.set().train)) {
  class_loss_.join(run.model());
}

std::unique_ptr<train::Batch> ClassTask::load(std::span<const int64_t> samples) const {
  std::vector<int64_t> chosen;
  for (const int64_t i : samples) chosen.push_back(run_.set().train[static_cast<size_t>(i)]);
  auto batch = std::make_unique<ClassBatch>();
  batch->samples = run_.gather(chosen);
  return batch;
}

std::unique_ptr<train::Batch> ClassTask::load_batch(std::span<const int64_t> samples, int64_t number) const {
  std::unique_ptr<train::Batch> batch = load(samples);
  run_.augment(static_cast<ClassBatch&>(*batch).samples, number);
  return batch;
}

at::Tensor ClassTask::loss(const train::Batch& batch, uint64_t seed, uint64_t step) {
  const data::LabelledBatch& samples = static_cast<const ClassBatch&>(batch).samples;
  const at::Device device = nn::device_of(run_.model());
  nn::set_dropout_step(run_.model(), seed, step);
  return class_loss_(
      nn::placed(samples.values, device), nn::placed(samples.valid, device),
      nn::placed(samples.labels, device),
      [&](const at::Tensor& values, const at::Tensor& valid) {
        return run_.model().forward({values, valid});
      },
      seed, step);
}

std::vector<double> ClassTask::loss_counts(const train::Batch& batch) const {
  return {class_loss_.count(static_cast<const ClassBatch&>(batch).samples.labels)};
}

at::Tensor ClassTask::sums(const train::Share& share) {
  if (run_.mixture() != nullptr) return at::zeros({1}, at::kDouble);  // scores are precomputed
  const std::span<const int64_t> samples = run_.set().validation;
  const int64_t first = share.first(std::ssize(samples)), last = share.last(std::ssize(samples));
  const metrics::ScoreTable own =
      score_samples(run_, samples.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first)));
  at::Tensor scores = at::zeros({std::ssize(samples) * own.classes}, at::kDouble);
  std::ranges::copy(own.scores, scores.mutable_data_ptr<double>() + first * own.classes);
  return scores;
}

train::Metrics ClassTask::metrics_of(const at::Tensor& sums) {
  std::vector<metrics::ScoreTable> parts;
  if (const metrics::ClassMixture* mixture = run_.mixture()) {
    parts = mixture->evaluated;
  } else {
    metrics::ScoreTable table;
    table.classes = run_.model().classes();
    table.scores.assign(sums.const_data_ptr<double>(), sums.const_data_ptr<double>() + sums.numel());
    for (const int64_t sample : run_.set().validation)
      table.labels.push_back(run_.set().labels[static_cast<size_t>(sample)]);
    parts.push_back(std::move(table));
  }
  train::Metrics metrics;
  for (const auto& [name, value] : figures_of(run_, parts)) metrics.set("val_" + name, value);
  if (run_.settings().train.tracks("stable_rank")) {
    const auto add = [&](const std::string& part, const std::string& split) {
      std::vector<int64_t> samples;
      const models::ClassifierInput input = run_.spread_input(part, kTrackedSamples, samples);
      ranks_.add(metrics, analysis::layer_ranks(attention_of(run_.model(), input)), split);
    };
    add("validation", "");
    add("train", "train_");
  }
  return metrics;
}

std::vector<train::Image> ClassTask::images() {
  if (!draws_attention(run_.cost())) return {};
  std::vector<int64_t> samples;
  return attention_figures(attention_of(run_.model(), run_.spread_input("validation", 1, samples)));
}

train::Criterion ClassTask::criterion() const {
  return {"val_" + run_.options().select, run_.options().select == "loss", "val_loss"};
}

}  // namespace modewise::tasks
