#include "modewise/tasks/classification/classification_run.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/softmax.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/core/stop_signal.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/tasks/classification/class_tables.h"
#include "modewise/tasks/classification/class_task.h"
#include "modewise/tasks/classification/members.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/run/own_samples.h"
#include "modewise/tasks/run/run_figures.h"
#include "modewise/tasks/run/test_split.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using Arrays = std::map<std::string, io::Array>;

void require_labels(const data::LabelledSamples& set, std::span<const int64_t> samples) {
  for (const int64_t i : samples)
    require(set.labels[static_cast<size_t>(i)] >= 0, ErrorKind::data, "{}: {} has no class",
            set.unlabelled.empty() ? set.source : set.unlabelled, set.called(i));
}

Json evaluation_of(const ClassificationRun& run, const std::string& split,
                   const metrics::ClassMetrics& metrics) {
  Json evaluation = to_json(metrics, split, run.set().classes);
  run.add_figures(evaluation, metrics, split);
  return evaluation;
}

/// Validation of an ensemble: counts over all validation splits, metrics as means over them. The scores of
/// its own split are stored in `arrays`.
Json evaluated_mixture(const ClassificationRun& run, const metrics::ClassMixture& mixture, Arrays& arrays) {
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
Json evaluated(const ClassificationRun& run, const std::string& split, Arrays& arrays) {
  if (split == "validation" && run.mixture() != nullptr)
    return evaluated_mixture(run, *run.mixture(), arrays);
  const metrics::ScoreTable table = score_split(run, split);
  const metrics::ClassMetrics metrics = metrics::class_metrics(table);
  metrics::add_arrays(table, split, arrays);
  if (split == "test") run.keep_scores(table, metrics);
  return evaluation_of(run, split, metrics);
}

/// Warns if the accuracy is not above that of always predicting the most frequent class.
void warn_of_majority(const ClassificationRun& run, const Json& evaluation) {
  const double accuracy = evaluation.at("accuracy"), majority = evaluation.at("majority_accuracy");
  if (accuracy > majority || majority == 1) return;
  size_t largest = 0;
  for (size_t k = 1; k < evaluation.at("classes").size(); ++k)
    if (evaluation.at("classes").at(k).at("samples") > evaluation.at("classes").at(largest).at("samples"))
      largest = k;
  spdlog::warn(
      "always predicting the most frequent class, '{}', has a {} accuracy of {:.1f} %; the model has "
      "{:.1f} %. More epochs or another learning rate may help",
      run.set().classes[largest], evaluation.at("split").get<std::string>(), 100 * majority, 100 * accuracy);
}

/// Warns if all samples are predicted as one class, whose share is the accuracy; whether it did.
bool warn_of_one_class(const ClassificationRun& run, const Json& evaluation) {
  const std::vector<std::string>& names = run.set().classes;
  std::vector<int64_t> predicted(names.size());
  for (const Json& row : evaluation.at("confusion"))
    for (size_t k = 0; k < names.size(); ++k) predicted[k] += row.at(k).get<int64_t>();
  const auto samples = evaluation.at("samples").get<int64_t>();
  const auto only = std::find(predicted.begin(), predicted.end(), samples);
  if (only == predicted.end() || evaluation.at("accuracy") == 1.0) return false;
  spdlog::warn(
      "all {} validation {} are predicted as class '{}': the accuracy of {:.1f} % is its share. "
      "More epochs or another learning rate may help",
      samples, run.set().many, names[static_cast<size_t>(only - predicted.begin())],
      100 * evaluation.at("accuracy").get<double>());
  return true;
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
  const std::vector<int64_t> all = samples_of(set(), whole_ ? "all" : split, false);
  for (const int64_t i : spread_samples(std::ssize(all), count))
    samples.push_back(all[static_cast<size_t>(i)]);
  data::LabelledBatch batch = gather(samples);
  prepare(batch);
  return {batch.values, batch.valid};
}

void ClassificationRun::load(const DataRequest& request) {
  if (request.training) return load_training_samples(request.with_test);
  own_ = request.own();
  const auto read = [&](bool with_test) { load_samples_of(request.path, with_test); };
  bool same = own_;
  if (own_ && !request.unchanged)
    read(request.with_test);
  else
    same = load_and_compare(*this, request.with_test, read);
  if (own_ && !same) refuse_changed(*this, set().source);
  const bool all = !own_ && request.split == "all";
  whole_ = (!same || all) && !set().drawn.empty();
  if (!same || all) announce_split(whole_ ? "all" : request.split);
  log_notes(set(), whole_ ? set().drawn : "");
}

void ClassificationRun::announce_split(const std::string& split) const {
  std::vector<uint64_t> contents;
  for (const int64_t i : set().split(split)) contents.push_back(set().contents[static_cast<size_t>(i)]);
  announce_others(*this, set().source, fmt::format("{} {}", contents.size(), set().many), contents, whole_);
}

void ClassificationRun::keep() const {
  keep_training_samples(folder(), set().train, set().contents);
}

void ClassificationRun::join(const std::function<void(int64_t number, ClassificationRun& member)>& each) {
  if (ensemble() != nullptr) mixture_ = join_members(*this, each);
}

void ClassificationRun::announce() {
  const data::LabelledSamples& samples = set();
  const ClassDescription description = about();
  log_notes(samples);
  const std::string protocol =
      description.protocol.empty() ? "" : fmt::format("protocol {}: ", description.protocol);
  const RunSettings given = settings();
  spdlog::info("{}: {}, {} classes ({}); {}{} train, {} validation, {}; model {}", samples.source,
               samples_text(), samples.classes.size(), listed_names(samples.classes), protocol,
               samples.train.size(), samples.validation.size(),
               test_count(given.train.test, samples.test.size()), given.model);
}

std::unique_ptr<train::ModuleTask> ClassificationRun::task() {
  return std::make_unique<ClassTask>(*this);
}

Json ClassificationRun::evaluate(const std::string& wanted, bool keep, train::Workers& /*workers*/) {
  const std::string split = whole_ ? "all" : wanted;
  // Validation samples of one split are training samples of members on other splits.
  if (own_ && split == "validation" && ensemble() != nullptr)
    return evaluated_metrics(folder())["validation"];
  if (!keep) return evaluation_of(*this, split, metrics::class_metrics(score_split(*this, split)));
  const std::string file = folder().file(kPredictions).string();
  Arrays arrays = io::read_npz(file);
  Json evaluation = evaluated(*this, split, arrays);
  io::write_npz(file, arrays);
  return evaluation;
}

void ClassificationRun::finish(Json& metrics) {
  const bool with_test = settings().train.test;
  Arrays arrays;
  metrics["test_read"] = with_test;
  metrics["validation"] = evaluated(*this, "validation", arrays);
  const bool one_class = warn_of_one_class(*this, metrics["validation"]);
  if (with_test) metrics["test"] = timed_test([&] { return evaluated(*this, "test", arrays); });
  if (!one_class) warn_of_majority(*this, metrics[with_test ? "test" : "validation"]);
  io::write_npz(folder().file(kPredictions).string(), arrays);
  if (mixture() != nullptr) metrics["members"] = members_json(*this);
}

std::vector<ResultTable> ClassificationRun::tables(const Json& metrics) const {
  return evaluation_tables(evaluated_parts(metrics), set().many);
}

void require_parts(data::LabelledSamples& set, bool with_test) {
  const auto check = [&](const char* name, const std::vector<int64_t>& samples, bool wanted) {
    require(!wanted || !samples.empty(), ErrorKind::data, "{}: {}", set.source, set.no_samples(name));
    require_labels(set, samples);
  };
  check("training", set.train, true);
  check("validation", set.validation, true);
  check("test", set.test, with_test);
  const std::vector<int64_t> training = set.class_counts(set.train);
  const auto occurring = std::count_if(training.begin(), training.end(), [](int64_t n) { return n > 0; });
  require(occurring >= 2, ErrorKind::data,
          "{}: all training {} have class '{}'; a classifier needs two classes", set.source, set.many,
          set.classes[static_cast<size_t>(set.labels[static_cast<size_t>(set.train.front())])]);
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

void log_notes(const data::LabelledSamples& set, const std::string& left_out) {
  for (size_t i = 0; i < set.notes.size(); ++i)
    if (left_out.empty() || set.notes[i] != left_out)
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
      const at::Tensor scores =
          at::softmax(output_of(model, models::ClassifierInput{view.values, view.valid}).to(at::kDouble), -1);
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

std::vector<int64_t> samples_of(const data::LabelledSamples& set, const std::string& split, bool labelled) {
  std::vector<int64_t> samples = set.split(split);
  require(!samples.empty(), ErrorKind::data, "{}: {}", set.source, set.no_samples(split));
  if (labelled) require_labels(set, samples);
  return samples;
}

metrics::ScoreTable score_split(const ClassificationRun& run, const std::string& split, bool labelled) {
  return score_samples(run, samples_of(run.set(), split, labelled));
}

}  // namespace modewise::tasks
