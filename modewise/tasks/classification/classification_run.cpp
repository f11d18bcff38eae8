#include "modewise/tasks/classification/classification_run.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/softmax.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/tasks/open_run.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_split.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

void require_labels(const data::LabelledSamples& set, std::span<const int64_t> samples) {
  for (const int64_t i : samples)
    require(set.labels[static_cast<size_t>(i)] >= 0, ErrorKind::data, "{}: {} has no class", set.source,
            set.called(i));
}

std::vector<int64_t> samples_of(const data::LabelledSamples& set, const std::string& split) {
  std::vector<int64_t> samples = set.split(split);
  require(!samples.empty(), ErrorKind::data, "{}: there are no {} {}", set.source, split, set.many);
  return samples;
}

}  // namespace

std::string ClassificationRun::choice_text() const {
  if (ensemble() != nullptr)
    return fmt::format(
        "The weights of the members are selected on the validation {}, whose metrics are cross-validated; "
        "the test {} are not used for selection.",
        set().many, set().many);
  return fmt::format(
      "The weights are those of the best validation metric; the test {} are not used for selection.",
      set().many);
}

models::ClassifierInput ClassificationRun::spread_input(const std::string& split, int64_t count,
                                                        std::vector<int64_t>& samples) const {
  const std::vector<int64_t> all = samples_of(set(), split);
  for (const int64_t i : spread_samples(std::ssize(all), count))
    samples.push_back(all[static_cast<size_t>(i)]);
  data::LabelledBatch batch = gather(samples);
  prepare(batch);
  return {batch.values, batch.valid};
}

OpenedRun open_run(std::unique_ptr<ClassificationRun> run, const std::filesystem::path& path) {
  train::RunFolder folder = train::RunFolder::open(path);
  folder.require_task(run->task());
  run->read_config(folder);
  read_run_data(folder,
                [&](const Json& json, const std::string& file) { run->read_description(json, file); });
  run->make_model(false);
  train::load_weights(run->model(), folder);
  run->model().eval();
  return {std::move(folder), std::move(run)};
}

void require_parts(data::LabelledSamples& set, bool with_test) {
  const auto check = [&](const char* name, const std::vector<int64_t>& samples, bool wanted) {
    require(!wanted || !samples.empty(), ErrorKind::data, "{}: there are no {} {}", set.source, name,
            set.many);
    require_labels(set, samples);
  };
  check("training", set.train, true);
  check("validation", set.validation, true);
  check("test", set.test, with_test);
  for (const auto& [name, samples] : {std::pair("training", &set.train), {"validation", &set.validation}}) {
    const std::vector<int64_t> counts = set.class_counts(*samples);
    for (size_t k = 0; k < counts.size(); ++k)
      if (counts[k] == 0)
        set.notes.push_back(fmt::format("class '{}' has no {} {}", set.classes[k], name, set.one));
  }
}

Json part_sizes(const data::LabelledSamples& set) {
  return {{"train", set.train.size()}, {"validation", set.validation.size()}, {"test", set.test.size()}};
}

void log_notes(const data::LabelledSamples& set) {
  for (size_t i = 0; i < set.notes.size(); ++i)
    spdlog::log(i < set.warnings ? spdlog::level::warn : spdlog::level::info, "{}", set.notes[i]);
}

metrics::ScoreTable score_samples(const ClassificationRun& run, std::span<const int64_t> samples) {
  const at::NoGradGuard no_grad;
  models::Classifier& model = run.model();
  const nn::EvaluationMode evaluation(model);
  metrics::ScoreTable table;
  table.classes = model.classes();
  const auto step = static_cast<size_t>(run.options().evaluation_batch);
  for (size_t begin = 0; begin < samples.size(); begin += step) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    const auto part = samples.subspan(begin, std::min(step, samples.size() - begin));
    data::LabelledBatch batch = run.gather(part);
    run.prepare(batch);
    at::Tensor sum;
    for (int64_t number = 0; number < run.views(); ++number) {
      const data::LabelledBatch view = run.view(batch, number);
      const at::Tensor scores = at::softmax(model.forward({view.values, view.valid}).to(at::kDouble), -1);
      sum = sum.defined() ? sum + scores : scores;
    }
    sum = (sum / static_cast<double>(run.views())).contiguous();
    const double* values = sum.const_data_ptr<double>();
    table.scores.insert(table.scores.end(), values, values + sum.numel());
    for (const int64_t i : part) table.labels.push_back(run.set().labels[static_cast<size_t>(i)]);
  }
  return table;
}

metrics::ScoreTable validation_scores(const train::RunFolder& folder) {
  evaluated_metrics(folder);
  const std::string file = folder.file(kPredictions).string();
  return metrics::table_of(io::read_npz(file), "validation", file);
}

metrics::ScoreTable score_split(const ClassificationRun& run, const std::string& split, bool labelled) {
  const std::vector<int64_t> samples = samples_of(run.set(), split);
  if (labelled) require_labels(run.set(), samples);
  return score_samples(run, samples);
}

}  // namespace modewise::tasks
