#include "modewise/tasks/classification/class_task.h"

#include <map>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/metrics/agreement.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/tasks/attention_figures.h"
#include "modewise/tasks/classification/members.h"
#include "modewise/tasks/test_split.h"
#include "modewise/train/loop/trainer.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using Arrays = std::map<std::string, io::Array>;

struct ClassBatch final : train::Batch {
  data::LabelledBatch samples;
};

Json evaluation_of(const ClassificationRun& run, const std::string& split,
                   const metrics::ClassMetrics& metrics) {
  Json evaluation = to_json(metrics, split, run.set().classes);
  run.add_figures(evaluation, metrics, split);
  return evaluation;
}

double figure_of(const std::string& name, const metrics::ScoreTable& table,
                 const metrics::ClassMetrics& metrics) {
  if (name == "auc") return metrics::defined_auc(table);
  if (name == "accuracy") return metrics.accuracy;
  if (name == "matthews") return metrics::matthews(metrics.confusion, table.classes);
  if (name == "f1") return metrics::f1(metrics.confusion, table.classes, table.classes - 1);
  return metrics.loss;
}

/// Means of run.figures() over several splits.
train::Metrics figures_of(const ClassificationRun& run, std::span<const metrics::ScoreTable> parts) {
  std::vector<metrics::ClassMetrics> evaluated;
  for (const metrics::ScoreTable& part : parts) evaluated.push_back(metrics::class_metrics(part));
  train::Metrics figures;
  for (const std::string& name : run.figures()) {
    double sum = 0;
    for (size_t p = 0; p < parts.size(); ++p) sum += figure_of(name, parts[p], evaluated[p]);
    figures.set(name, sum / static_cast<double>(parts.size()));
  }
  return figures;
}

/// Validation of an ensemble: counts over all validation splits, metrics as means over them. The scores of
/// its own split are stored in `arrays`.
Json evaluate_mixture(const ClassificationRun& run, const metrics::ClassMixture& mixture, Arrays& arrays) {
  metrics::add_arrays(mixture.evaluated.front(), "validation", arrays);
  metrics::ScoreTable all = mixture.evaluated.front();
  for (const metrics::ScoreTable& part : std::span(mixture.evaluated).subspan(1)) {
    all.scores.insert(all.scores.end(), part.scores.begin(), part.scores.end());
    all.labels.insert(all.labels.end(), part.labels.begin(), part.labels.end());
  }
  Json evaluation = evaluation_of(run, "validation", metrics::class_metrics(all));
  if (mixture.evaluated.size() > 1) evaluation.update(to_json(figures_of(run, mixture.evaluated)));
  return evaluation;
}

/// Evaluates a split; its scores are stored in `arrays`.
Json evaluate(const ClassificationRun& run, const train::RunFolder& folder, const std::string& split,
              Arrays& arrays) {
  if (split == "validation" && run.mixture() != nullptr) return evaluate_mixture(run, *run.mixture(), arrays);
  const metrics::ScoreTable table = score_split(run, split);
  const metrics::ClassMetrics metrics = metrics::class_metrics(table);
  metrics::add_arrays(table, split, arrays);
  if (split == "test") run.keep_scores(folder, table, metrics);
  return evaluation_of(run, split, metrics);
}

}  // namespace

ClassTask::ClassTask(ClassificationRun& run)
    : run_(run), hash_(run.hash()), class_loss_(run.options(), run.set().class_counts(run.set().train)) {
  run.make_model(true);
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
  nn::set_dropout_step(run_.model(), seed, step);
  return class_loss_(
      samples.values, samples.valid, samples.labels,
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
  if (run_.training().tracks("stable_rank")) {
    std::vector<int64_t> samples;
    const models::ClassifierInput input = run_.spread_input("validation", kTrackedSamples, samples);
    ranks_.add(metrics, analysis::layer_ranks(run_.model().attention(input)));
  }
  return metrics;
}

std::vector<train::Image> ClassTask::images() {
  if (!draws_attention(run_.cost())) return {};
  std::vector<int64_t> samples;
  return attention_figures(run_.model().attention(run_.spread_input("validation", 1, samples)));
}

train::Criterion ClassTask::criterion() const {
  return {"val_" + run_.options().select, run_.options().select == "loss", "val_loss"};
}

TrainedRun train_classifier(ClassificationRun& run, train::RunFolder& folder, bool resume,
                            bool accept_changes) {
  run.begin(folder);
  ClassTask task(run);
  TrainedRun result;
  result.training = train::train(task, run.training(), folder, resume, accept_changes);
  if (!result.training.to_be_evaluated()) return result;
  result.metrics = folder.read_metrics();
  Arrays arrays;
  result.metrics["test_read"] = run.training().test;
  result.metrics["validation"] = evaluate(run, folder, "validation", arrays);
  if (run.training().test) result.metrics["test"] = evaluate(run, folder, "test", arrays);
  io::write_npz(folder.file(kPredictions).string(), arrays);
  if (run.mixture() != nullptr) result.metrics["members"] = members_json(run);
  run.add_metrics(result.metrics);
  run.finish(folder);
  folder.write_metrics(result.metrics);
  return result;
}

Json evaluate_split(const OpenedRun& opened, const std::string& split, bool own) {
  const ClassificationRun& run = *opened.run;
  // Validation samples of one split are training samples of members on other splits.
  if (own && split == "validation" && run.ensemble() != nullptr)
    return evaluated_metrics(opened.folder)["validation"];
  if (!own || split != "test" || !test_is_unread(opened.folder))
    return evaluation_of(run, split, metrics::class_metrics(score_split(run, split)));
  const std::string file = opened.folder.file(kPredictions).string();
  Arrays arrays = io::read_npz(file);
  Json evaluation = evaluate(run, opened.folder, "test", arrays);
  io::write_npz(file, arrays);
  write_test_figures(opened.folder, {{"test", evaluation}}, run.hash());
  return evaluation;
}

}  // namespace modewise::tasks
