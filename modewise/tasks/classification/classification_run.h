#pragma once
// A run that gives classes to samples: settings, samples and a classifier, from a config to a folder and
// back. A task derives one class; training, judging, predicting, explaining and the pages are the same for
// all.
//
// predictions.npz keeps scores and labels of the validation and test samples; metrics.json gains "validation"
// and, where training reads it, "test".

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "modewise/analysis/cost.h"
#include "modewise/core/fields.h"
#include "modewise/data/labelled_samples.h"
#include "modewise/metrics/class_metrics.h"
#include "modewise/metrics/class_mixture.h"
#include "modewise/models/classifier.h"
#include "modewise/models/ensemble_config.h"
#include "modewise/report/figure.h"
#include "modewise/tasks/explanation.h"
#include "modewise/tasks/classification/class_loss.h"
#include "modewise/tasks/load_config.h"
#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

inline constexpr const char* kPredictions = "predictions.npz";

/// How a classifier is trained and judged.
struct ClassOptions : ClassLossOptions {
  std::string select;  // auc | accuracy | loss: what the best weights are chosen by, on validation
  int64_t evaluation_batch = 32;
};

/// A sample that is read.
struct SampleText {
  std::string text;
};
/// A figure, the bytes of a PNG, or a text.
using SampleView = std::variant<report::Figure, std::string, SampleText>;

class ClassificationRun {
 public:
  virtual ~ClassificationRun() = default;

  /// The word behind `train`, and what is classified ("volumes").
  virtual const char* task() const = 0;
  virtual const char* subject() const = 0;

  // Settings.
  /// Defaults < `file` ("" for none) < `assignments`.
  virtual void load_config(const std::string& file, const std::vector<std::string>& assignments) = 0;
  virtual void read_config(const train::RunFolder& folder) = 0;
  virtual Fields fields() = 0;
  virtual const train::TrainConfig& training() const = 0;
  virtual const ClassOptions& options() const = 0;
  /// Names for tables: of the model with its form, and of the data.
  virtual std::string model_name() const = 0;
  virtual std::string data_name() const = 0;
  virtual bool wants_report() const = 0;
  /// Usage error when the config names no data.
  virtual void require_data() const = 0;

  // Samples.
  /// Loads what the config names, and fits the model's settings to it; config errors where that cannot be.
  virtual void load_samples(bool with_test) = 0;
  /// Of an opened run: its own samples, or those of `path`; data errors that name what does not fit the
  /// model. Without `with_test` the test part stays unread.
  virtual void load_samples_of(const std::string& path, bool with_test) = 0;
  virtual const data::LabelledSamples& set() const = 0;
  virtual std::string hash() const = 0;
  /// "volumes of 28 × 28 × 28 voxels".
  virtual std::string samples_text() const = 0;
  /// How the samples were parted, "" where that is as usual.
  virtual std::string protocol() const { return ""; }
  /// What predict is asked about: of new data everything, of the run's own the test part.
  virtual std::string asked_split(const std::string& path) const { return path.empty() ? "test" : "all"; }
  /// data.json, and what of it makes the model; data errors name its `file`.
  virtual nlohmann::ordered_json describe() const = 0;
  virtual void read_description(const nlohmann::ordered_json& json, const std::string& file) = 0;

  // Model.
  /// With weights that depend on the seed alone; `to_train`: with what it keeps of the training samples.
  virtual void make_model(bool to_train) = 0;
  virtual models::Classifier& model() const = 0;
  /// What a parameter's learning rate is multiplied by.
  virtual double rate_factor(std::string_view /*parameter*/) const { return 1; }
  virtual analysis::ModelCost cost() const = 0;
  /// The samples side by side, as the model takes them.
  virtual data::LabelledBatch gather(std::span<const int64_t> samples) const = 0;
  /// Varies the training batch of a number, counted through all epochs.
  virtual void augment(data::LabelledBatch& batch, int64_t number) const = 0;
  /// What evaluation does of varying.
  virtual void prepare(data::LabelledBatch& /*batch*/) const {}
  /// Views of a batch whose probabilities are averaged.
  virtual int64_t views() const { return 1; }
  virtual data::LabelledBatch view(const data::LabelledBatch& batch, int64_t /*number*/) const {
    return batch;
  }

  // Ensembles (members.h); a task without them has none of these.
  /// The members, where the model is one.
  virtual const models::EnsembleConfig* ensemble() const { return nullptr; }
  /// A run of the same task without settings.
  virtual std::unique_ptr<ClassificationRun> create() const { return nullptr; }
  /// Settings besides data.* that scores depend on, which members share.
  virtual std::vector<std::string> evaluation_settings() const { return {}; }
  /// Of an ensemble in training: its weights, and the scores by which it is validated.
  virtual const metrics::ClassMixture* mixture() const { return nullptr; }

  // Judging.
  /// Metrics of each evaluation in order, of auc, accuracy, matthews, f1 (of the last of two classes) and
  /// loss.
  virtual std::vector<std::string> figures() const = 0;
  /// What else the evaluation of a part holds.
  virtual void add_figures(nlohmann::ordered_json& /*evaluation*/, const metrics::ClassMetrics& /*metrics*/,
                           const std::string& /*split*/) const {}
  /// What the folder of a run holds besides: before the training, and behind it.
  virtual void begin(const train::RunFolder& /*folder*/) const {}
  virtual void finish(const train::RunFolder& /*folder*/) const {}
  /// What else metrics.json holds.
  virtual void add_metrics(nlohmann::ordered_json& /*metrics*/) const {}
  /// What else a judgement of the test samples leaves in the folder.
  virtual void keep_scores(const train::RunFolder& /*folder*/, const metrics::ScoreTable& /*table*/,
                           const metrics::ClassMetrics& /*metrics*/) const {}
  /// A sentence about how the weights were chosen.
  virtual std::string choice_text() const;

  // Pages.
  /// A sample as its report shows it, and what that is in a sentence.
  virtual SampleView sample_view(int64_t sample) const = 0;
  virtual std::string figure_text() const = 0;
  /// Names of the token modes.
  virtual std::vector<std::string> mode_names() const = 0;
  /// How factors are joined: product | sum | mean; "" for models without.
  virtual std::string combine() const { return ""; }
  /// What becomes of the probabilities `whole` when places of the samples are taken away, and what stands in
  /// their place.
  virtual std::vector<Influence> influences(const models::ClassifierInput& input, const at::Tensor& whole,
                                            int64_t max_places) const = 0;
  virtual std::string removal_text() const = 0;

  /// The samples of a split in a batch for the model, evenly spread; `samples` says which.
  models::ClassifierInput spread_input(const std::string& split, int64_t count,
                                       std::vector<int64_t>& samples) const;
};

/// The part of a run that follows from the types of its config, samples and model.
template <class Config, class Set, class Model>
class ClassificationRunOf : public ClassificationRun {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config = tasks::load_config<Config>(file, assignments);
  }
  void read_config(const train::RunFolder& folder) override { config = read_run_config<Config>(folder); }
  Fields fields() override { return fields_of(config); }
  const train::TrainConfig& training() const override { return config.train; }
  std::string model_name() const override { return model_title(config); }
  std::string data_name() const override { return data_title(config); }
  bool wants_report() const override { return config.output.report; }
  const Set& set() const override { return set_; }
  std::string hash() const override {
    if (hash_.empty()) hash_ = hash_of(set_);
    return hash_;
  }
  Model& model() const override { return *model_; }
  const models::EnsembleConfig* ensemble() const override {
    if constexpr (requires { config.model.ensemble; })
      if (config.model.name == "ensemble") return &config.model.ensemble;
    return nullptr;
  }
  const metrics::ClassMixture* mixture() const override { return mixture_ ? &*mixture_ : nullptr; }

  /// Takes samples to train on, and the model's sizes from them.
  void take(Set set) {
    show(std::move(set));
    shape_ = config.model_shape(set_);
  }

  Config config;

 protected:
  using Shape = std::remove_cvref_t<decltype(std::declval<const Model&>().shape())>;

  uint64_t seed() const { return static_cast<uint64_t>(config.train.seed); }
  /// Takes samples for the model as it is.
  void show(Set set) {
    set_ = std::move(set);
    hash_.clear();
  }

  Set set_;
  mutable std::string hash_;  // of the set, once it was asked for
  Shape shape_;               // of the model
  std::string source_;        // of an opened run: what it was trained on
  std::shared_ptr<Model> model_;
  std::optional<metrics::ClassMixture> mixture_;
};

/// A run with its best weights.
struct OpenedRun {
  train::RunFolder folder;
  std::unique_ptr<ClassificationRun> run;
};
/// Errors as RunFolder::open, and data errors naming the file that does not fit.
OpenedRun open_run(std::unique_ptr<ClassificationRun> run, const std::filesystem::path& path);

/// Data errors for a part without samples (the test part may be missing where it is left unread) and for a
/// sample of it without a class; notes the classes that the training or validation part lacks.
void require_parts(data::LabelledSamples& set, bool with_test);
/// {"train": …, "validation": …, "test": …}.
nlohmann::ordered_json part_sizes(const data::LabelledSamples& set);
/// Logs what was done to the set.
void log_notes(const data::LabelledSamples& set);

/// Class probabilities of samples, the mean over views, with their labels. Throws
/// train::EvaluationInterrupted when a stop signal came.
metrics::ScoreTable score_samples(const ClassificationRun& run, std::span<const int64_t> samples);
/// The scores of the validation samples that a finished run kept: of an ensemble those by which it was
/// validated. no_input where it has not finished.
metrics::ScoreTable validation_scores(const train::RunFolder& folder);
/// The scores of a split; data error when it is empty or, where they are to be `labelled`, a sample has no
/// class.
metrics::ScoreTable score_split(const ClassificationRun& run, const std::string& split, bool labelled = true);

}  // namespace modewise::tasks
