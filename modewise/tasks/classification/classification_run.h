#pragma once
// Classification run: config, samples and classifier. Each task derives one class; training, evaluation,
// prediction, explanation and reports are shared.
//
// predictions.npz has scores and labels of the validation and test samples; metrics.json has "validation"
// and, if training reads the test split, "test".

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
#include "modewise/tasks/classification/class_loss.h"
#include "modewise/tasks/explanation.h"
#include "modewise/tasks/load_config.h"
#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {

inline constexpr const char* kPredictions = "predictions.npz";

/// Options of training and evaluation of a classifier.
struct ClassOptions : ClassLossOptions {
  std::string select;  // auc | accuracy | loss: validation metric for the selection of the best weights
  int64_t evaluation_batch = 32;
};

/// A sample shown as text.
struct SampleText {
  std::string text;
};
/// A figure, the bytes of a PNG, or a text.
using SampleView = std::variant<report::Figure, std::string, SampleText>;

class ClassificationRun {
 public:
  virtual ~ClassificationRun() = default;

  /// Name of the task, and noun for what is classified ("volumes").
  virtual const char* task() const = 0;
  virtual const char* subject() const = 0;

  // Settings.
  /// Defaults < `file` ("" for none) < `assignments`.
  virtual void load_config(const std::string& file, const std::vector<std::string>& assignments) = 0;
  virtual void read_config(const train::RunFolder& folder) = 0;
  virtual Fields fields() = 0;
  virtual const train::TrainConfig& training() const = 0;
  virtual const ClassOptions& options() const = 0;
  /// Names for tables: of the model with its attention type, and of the data.
  virtual std::string model_name() const = 0;
  virtual std::string data_name() const = 0;
  virtual bool wants_report() const = 0;
  /// Usage error if no data is set.
  virtual void require_data() const = 0;

  // Samples.
  /// Loads the config's samples and sets the model's sizes from them; config errors if they do not fit.
  virtual void load_samples(bool with_test) = 0;
  /// For an opened run: loads its own samples, or those of `path`; data errors name what does not fit the
  /// model. Without `with_test` the test split stays unread.
  virtual void load_samples_of(const std::string& path, bool with_test) = 0;
  virtual const data::LabelledSamples& set() const = 0;
  virtual std::string hash() const = 0;
  /// "volumes of 28 × 28 × 28 voxels".
  virtual std::string samples_text() const = 0;
  /// Name of the split protocol; "": default.
  virtual std::string protocol() const { return ""; }
  /// The split for predict: all of new data, the test split of the run's own.
  virtual std::string asked_split(const std::string& path) const { return path.empty() ? "test" : "all"; }
  /// Writes data.json, and reads the model's sizes from it; data errors name its `file`.
  virtual nlohmann::ordered_json describe() const = 0;
  virtual void read_description(const nlohmann::ordered_json& json, const std::string& file) = 0;

  // Model.
  /// Creates the model, with weights that depend only on the seed; `to_train`: with the data that it keeps of
  /// the training samples.
  virtual void make_model(bool to_train) = 0;
  virtual models::Classifier& model() const = 0;
  /// Learning rate factor of a parameter.
  virtual double rate_factor(std::string_view /*parameter*/) const { return 1; }
  virtual analysis::ModelCost cost() const = 0;
  /// Batch of samples as model input.
  virtual data::LabelledBatch gather(std::span<const int64_t> samples) const = 0;
  /// Augments a training batch; `number` counts batches through all epochs.
  virtual void augment(data::LabelledBatch& batch, int64_t number) const = 0;
  /// Transform for evaluation that corresponds to augmentation.
  virtual void prepare(data::LabelledBatch& /*batch*/) const {}
  /// Number of views for test-time augmentation, whose probabilities are averaged.
  virtual int64_t views() const { return 1; }
  virtual data::LabelledBatch view(const data::LabelledBatch& batch, int64_t /*number*/) const {
    return batch;
  }

  // Ensembles (members.h); not overridden by tasks without ensembles.
  /// The ensemble's config, if the model is an ensemble.
  virtual const models::EnsembleConfig* ensemble() const { return nullptr; }
  /// A run of the same task with default settings.
  virtual std::unique_ptr<ClassificationRun> create() const { return nullptr; }
  /// Settings besides data.* that affect scores and must be equal for all members.
  virtual std::vector<std::string> evaluation_settings() const { return {}; }
  /// Weights and validation scores of an ensemble in training.
  virtual const metrics::ClassMixture* mixture() const { return nullptr; }

  // Evaluation.
  /// Metrics of each evaluation, in order: of auc, accuracy, matthews, f1 (of the second of two classes) and
  /// loss.
  virtual std::vector<std::string> figures() const = 0;
  /// Adds further values to the evaluation of a split.
  virtual void add_figures(nlohmann::ordered_json& /*evaluation*/, const metrics::ClassMetrics& /*metrics*/,
                           const std::string& /*split*/) const {}
  /// Write further files to the run folder, before and after training.
  virtual void begin(const train::RunFolder& /*folder*/) const {}
  virtual void finish(const train::RunFolder& /*folder*/) const {}
  /// Adds further values to metrics.json.
  virtual void add_metrics(nlohmann::ordered_json& /*metrics*/) const {}
  /// Writes further files after an evaluation of the test split.
  virtual void keep_scores(const train::RunFolder& /*folder*/, const metrics::ScoreTable& /*table*/,
                           const metrics::ClassMetrics& /*metrics*/) const {}
  /// A sentence about the selection of the weights.
  virtual std::string choice_text() const;

  // Pages.
  /// A sample for the report, and a description of the view.
  virtual SampleView sample_view(int64_t sample) const = 0;
  virtual std::string figure_text() const = 0;
  /// Names of the token modes.
  virtual std::vector<std::string> mode_names() const = 0;
  /// Combination of attention factors: product | sum | mean; "": none.
  virtual std::string combine() const { return ""; }
  /// Occlusion: changes of the probabilities `whole` when positions are occluded, and the name of the
  /// replacement.
  virtual std::vector<Influence> influences(const models::ClassifierInput& input, const at::Tensor& whole,
                                            int64_t max_places) const = 0;
  virtual std::string removal_text() const = 0;

  /// Batch of evenly spaced samples of a split; `samples` gets their indices.
  models::ClassifierInput spread_input(const std::string& split, int64_t count,
                                       std::vector<int64_t>& samples) const;
};

/// Methods that follow from the types of config, samples and model.
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

  /// Sets the training samples, and the model's sizes from them.
  void take(Set set) {
    show(std::move(set));
    shape_ = config.model_shape(set_);
  }

  Config config;

 protected:
  using Shape = std::remove_cvref_t<decltype(std::declval<const Model&>().shape())>;

  uint64_t seed() const { return static_cast<uint64_t>(config.train.seed); }
  /// Sets samples for an existing model.
  void show(Set set) {
    set_ = std::move(set);
    hash_.clear();
  }

  Set set_;
  mutable std::string hash_;  // of the set, computed lazily
  Shape shape_;               // of the model
  std::string source_;        // of an opened run: source of its training data
  std::shared_ptr<Model> model_;
  std::optional<metrics::ClassMixture> mixture_;
};

/// A run with its best weights.
struct OpenedRun {
  train::RunFolder folder;
  std::unique_ptr<ClassificationRun> run;
};
/// Opens a run. Errors as RunFolder::open, and data errors naming the file that does not fit.
OpenedRun open_run(std::unique_ptr<ClassificationRun> run, const std::filesystem::path& path);

/// Data errors for an empty split (the test split may be empty if it is unread) and for samples without a
/// class; notes classes without training or validation samples.
void require_parts(data::LabelledSamples& set, bool with_test);
/// {"train": …, "validation": …, "test": …}.
nlohmann::ordered_json part_sizes(const data::LabelledSamples& set);
/// Logs the notes and warnings of the set.
void log_notes(const data::LabelledSamples& set);

/// Class probabilities of samples, averaged over views, with their labels. Throws
/// train::EvaluationInterrupted if a stop signal arrives.
metrics::ScoreTable score_samples(const ClassificationRun& run, std::span<const int64_t> samples);
/// Stored validation scores of a finished run; for an ensemble those of its validation. no_input if it has
/// not finished.
metrics::ScoreTable validation_scores(const train::RunFolder& folder);
/// Scores of a split; data error if it is empty or, with `labelled`, if a sample has no class.
metrics::ScoreTable score_split(const ClassificationRun& run, const std::string& split, bool labelled = true);

}  // namespace modewise::tasks
