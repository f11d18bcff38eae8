#include "modewise/tasks/series_classification/run.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "modewise/core/aliases.h"
#include "modewise/core/error.h"
#include "modewise/models/series_classification/cost.h"
#include "modewise/models/series_classification/series_ensemble.h"
#include "modewise/tasks/classification/choose_epochs.h"
#include "modewise/tasks/run/idle_settings.h"
#include "modewise/tasks/series_classification/spec.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kUsualSeriesEpochs = 100;

/// Warns of settings of gradient steps for a model without them.
void warn_of_idle_settings(const SeriesClassificationConfig& config) {
  static constexpr std::string_view kOfSamples[] = {"augment", "classify.mixup", "classify.class_weights",
                                                    "classify.label_smoothing"};
  SeriesClassificationConfig given = config, usual;
  if (given.train.epochs == 0) usual.train.epochs = 0;
  warn_of_idle_training(fields_of(given), fields_of(usual), config.model.name, kOfSamples);
}

}  // namespace

ClassDescription SeriesClassificationRun::about() const {
  ClassDescription about{series_classification_spec, "series", {"accuracy", "loss"}, {"patch"}};
  about.view = fmt::format("scaled series, at most the first {} variables", kShownVariables);
  about.removal = "its values become the mean of the variable over the sample";
  about.protocol = config.data.protocol;
  about.new_split = "test";
  return about;
}

void SeriesClassificationRun::load_training_samples(bool with_test) {
  require(!config.data.path.empty() || !config.data.train.empty(), ErrorKind::usage,
          "no data: give --data FOLDER with X_TRAIN.ts and X_TEST.ts, or --train FILE --test FILE");
  take_members();
  data::SeriesCollection set = data::load_collection(config.data, with_test);
  require_parts(set, with_test);
  if (!set.index.empty()) config.data.columns.index = set.index;
  take(std::move(set));
  if (!models::learns_in_steps(config.model)) {
    if (!has_folder()) warn_of_idle_settings(config);
    if (config.train.epochs < 0) config.train.epochs = 0;
  }
  choose_epochs(config.train, std::ssize(this->set().train), kUsualSeriesEpochs);
  models::validate(config.model, shape_);
}

void SeriesClassificationRun::load_samples_of(const std::string& path, bool with_test) {
  if (std::filesystem::is_regular_file(path)) {
    data::SeriesCollection set =
        data::load_samples(path, config.data.normalize, trained_, config.data.columns, labelled_);
    data::split_if_own(set, config.data, trained_hash_, with_test);
    return show(std::move(set));
  }
  data::CollectionConfig wanted = config.data;
  if (!path.empty()) {
    wanted.path = path;
    wanted.train = wanted.test = "";
  }
  // The lengths of test samples are unknown to training.
  if (!config.train.test && wanted.length == 0) wanted.length = trained_.length;
  data::SeriesCollection set = data::load_collection(wanted, with_test, trained_.form);
  require(set.classes == trained_.classes && set.variables == trained_.variables &&
              set.length == trained_.length && set.padded() == trained_.padded,
          ErrorKind::data,
          "{}: {} classes, {} variables and {} steps{}, but the run was trained on {}, {} and {}{} ({})",
          set.source, set.classes.size(), set.variables, set.length, set.padded() ? " at most" : "",
          trained_.classes.size(), trained_.variables, trained_.length, trained_.padded ? " at most" : "",
          source_);
  show(std::move(set));
}

std::string SeriesClassificationRun::samples_text() const {
  return fmt::format("series of {} variables and {} steps{}", set_.variables, set_.length,
                     set_.padded() ? " at most" : "");
}

nlohmann::ordered_json SeriesClassificationRun::describe() const {
  return {{"source", set_.source},
          {"name", set_.name},
          {"hash", hash()},
          {"classes", set_.classes},
          {"variables", shape_.variables},
          {"length", shape_.length},
          {"padded", shape_.padded},
          {"mean", set_.scale.mean},
          {"std", set_.scale.stddev},
          {"columns", set_.form.columns},
          {"decimal", set_.form.decimal},
          {"samples", part_sizes(set_)}};
}

void SeriesClassificationRun::restore(const nlohmann::ordered_json& json, const std::string& file) {
  source_ = json.at("source").get<std::string>();
  trained_hash_ = json.value("hash", "");
  trained_ = {
      json.at("classes").get<std::vector<std::string>>(),
      json.at("variables").get<int64_t>(),
      json.at("length").get<int64_t>(),
      json.at("padded").get<bool>(),
      {json.at("mean").get<std::vector<double>>(), aliased_member(json, "std").get<std::vector<double>>()},
      {json.value("columns", std::vector<std::string>()), json.value("decimal", "")}};
  shape_ = {trained_.variables, trained_.length, std::ssize(trained_.classes), trained_.padded,
            json.at("samples").at("train").get<int64_t>()};
  const data::VariableScale& scale = trained_.scale;
  require(
      scale.mean.size() == scale.stddev.size() &&
          (scale.mean.empty() || std::ssize(scale.mean) == shape_.variables) && shape_.training_samples >= 0,
      ErrorKind::data, "{}: means and standard deviations do not match {} variables", file, shape_.variables);
}

void SeriesClassificationRun::make_model(Purpose purpose) {
  model_ = models::make_series_classifier(config.model, shape_, seed());
  if (purpose == Purpose::open) return;
  join([this](int64_t number, ClassificationRun& member) {
    scale_for(number, as<SeriesClassificationRun>(member).trained_.scale);
  });
  if (!model_->remembers()) return;
  const data::LabelledBatch all = gather(set_.train);
  model_->remember({all.values, all.valid}, all.labels);
}

void SeriesClassificationRun::scale_for(int64_t member, const data::VariableScale& scale) {
  std::vector<double> factor, shift;
  for (size_t v = 0; v < scale.mean.size(); ++v) {
    factor.push_back(set_.scale.stddev[v] / scale.stddev[v]);
    shift.push_back((set_.scale.mean[v] - scale.mean[v]) / scale.stddev[v]);
  }
  if (!factor.empty()) dynamic_cast<models::SeriesEnsemble&>(*model_).set_scale(member, factor, shift);
}

nn::ModelCost SeriesClassificationRun::cost() const {
  return models::series_cost(config.model, shape_);
}

data::LabelledBatch SeriesClassificationRun::gather(std::span<const int64_t> samples) const {
  return data::gather_samples(set_, samples, shape_.length, shape_.padded);
}

void SeriesClassificationRun::augment(data::LabelledBatch& batch, int64_t number) const {
  data::augment(batch, config.augment, seed(), static_cast<uint64_t>(number));
}

void SeriesClassificationRun::finish(nlohmann::ordered_json& metrics) {
  ClassificationRun::finish(metrics);
  metrics["protocol"] = config.data.protocol;
}

std::string SeriesClassificationRun::choice_text() const {
  if (config.data.protocol != "tslib") return ClassificationRun::choice_text();
  return "Protocol tslib: the weights are selected on the test samples, so this accuracy is an upper bound.";
}

}  // namespace modewise::tasks
