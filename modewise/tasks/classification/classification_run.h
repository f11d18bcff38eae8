#pragma once
// Classification run: config, samples and classifier. Each task derives one class; training, evaluation,
// prediction, explanation and reports are shared.
//
// predictions.npz has scores and labels of the validation and test samples; metrics.json has "validation"
// and, if training reads the test split, "test".

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "modewise/data/labelled_samples.h"
#include "modewise/metrics/class_metrics.h"
#include "modewise/metrics/class_mixture.h"
#include "modewise/models/class_ensemble.h"
#include "modewise/models/classifier.h"
#include "modewise/models/ensemble_config.h"
#include "modewise/report/figure.h"
#include "modewise/tasks/classification/class_loss.h"
#include "modewise/tasks/classification/members.h"
#include "modewise/tasks/run/explanation.h"
#include "modewise/tasks/run/load_config.h"
#include "modewise/tasks/run/run.h"
#include "modewise/tasks/run/task_spec.h"

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

/// Constants of a classification task.
struct ClassDescription {
  const TaskSpec& task;
  std::string subject;                  // noun for what is classified: "volumes"
  std::vector<std::string> figures;     // metrics of each evaluation, of auc, accuracy, matthews, f1 (of the
                                        // second of two classes) and loss
  std::vector<std::string> modes;       // names of the token modes
  std::string combine = {};             // combination of attention factors: product | sum | mean; "": none
  std::string view = {}, removal = {};  // descriptions of sample_view, and of an occlusion
  std::string protocol = {};            // name of the split protocol; "": default
  std::string new_split = "all";        // split of another folder than the run's own, for predict
  std::vector<std::string> shared_settings =
      {};  // settings besides data.* that are equal for members of an ensemble
};

class ClassificationRun : public Run {
 public:
  virtual ClassDescription about() const = 0;
  virtual const ClassOptions& options() const = 0;

  // Samples.
  /// Loads the config's samples and sets the model's sizes from them; config errors if they do not fit.
  virtual void load_training_samples(bool with_test) = 0;
  /// For an opened run: loads its own samples, or those of `path`; data errors name what does not fit the
  /// model.
  virtual void load_samples_of(const std::string& path, bool with_test) = 0;
  virtual const data::LabelledSamples& set() const = 0;
  /// "volumes of 28 × 28 × 28 voxels".
  virtual std::string samples_text() const = 0;

  // Model.
  virtual models::Classifier& model() const = 0;
  /// Learning rate factor of a parameter.
  virtual double rate_factor(std::string_view /*parameter*/) const { return 1; }
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

  // Ensembles (members.h).
  /// The ensemble's config, if the model is an ensemble.
  virtual const models::EnsembleConfig* ensemble() const { return nullptr; }
  /// The model's config as a member of an ensemble.
  virtual std::string member_toml() const { return ""; }

  // Evaluation.
  /// Adds further values to the evaluation of a split.
  virtual void add_figures(nlohmann::ordered_json& /*evaluation*/, const metrics::ClassMetrics& /*metrics*/,
                           const std::string& /*split*/) const {}
  /// Writes further files after an evaluation of the test split.
  virtual void keep_scores(const metrics::ScoreTable& /*table*/,
                           const metrics::ClassMetrics& /*metrics*/) const {}

  // Pages.
  /// A sentence about the selection of the weights.
  virtual std::string choice_text() const;
  virtual SampleView sample_view(int64_t sample) const = 0;
  /// Occlusion: changes of the probabilities `whole` when positions are occluded.
  virtual std::vector<Influence> influences(const models::ClassifierInput& input, const at::Tensor& whole,
                                            int64_t max_places) const = 0;

  /// For predictions: in other samples than the run's own, labels that it does not know are as none.
  void accept_unknown_labels() { labelled_ = false; }
  void load(const DataRequest& request) override;
  void announce() override;
  /// Writes the hashes of the training samples.
  void keep() const override;
  torch::nn::Module& module() const override { return model(); }
  std::unique_ptr<train::ModuleTask> task() override;
  nlohmann::ordered_json evaluate(const std::string& split, bool keep, train::Workers& workers) override;
  void finish(nlohmann::ordered_json& metrics) override;
  std::vector<ResultTable> tables(const nlohmann::ordered_json& metrics) const override;
  report::HtmlPage page(const nlohmann::ordered_json& metrics) override;

  /// Weights and validation scores of an ensemble in training.
  const metrics::ClassMixture* mixture() const { return mixture_ ? &*mixture_ : nullptr; }
  /// Whether the loaded samples are others than the run's own, without a split of their own.
  bool whole() const { return whole_; }
  /// Batch of evenly spaced samples of a split, or of whole() data; `samples` gets their indices.
  models::ClassifierInput spread_input(const std::string& split, int64_t count,
                                       std::vector<int64_t>& samples) const;

 protected:
  /// For a model in training: joins the members of an ensemble (members.h), calling `each` for each of them.
  void join(const std::function<void(int64_t number, ClassificationRun& member)>& each = nullptr);

  std::string source_;    // of an opened run: source of its training samples
  bool own_ = true;       // whether the loaded samples are the run's own
  bool whole_ = false;    // whether they are others, without a split of their own
  bool labelled_ = true;  // false: accept_unknown_labels()

 private:
  /// Logs that samples of other data are used, with the number of training samples among them.
  void announce_split(const std::string& split) const;

  std::optional<metrics::ClassMixture> mixture_;
};

/// Methods that follow from the types of config, samples and model.
template <class Config, class Set, class Model>
class ClassificationRunOf : public ClassificationRun {
 public:
  explicit ClassificationRunOf(Config settings = {}) : config(std::move(settings)) {}

  RunSettings settings() override { return settings_of(config); }
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
  std::string member_toml() const override {
    if constexpr (requires { config.model.ensemble; }) {
      models::ClassMember<decltype(config.model)> member{0, config.model};
      if constexpr (requires { shape_.training_samples; }) member.training_samples = shape_.training_samples;
      return member.to_toml();
    }
    return "";
  }

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
  /// For a new ensemble: sets its members and shared settings, and train.epochs to 0. Errors of open_members.
  void take_members() {
    if constexpr (requires { config.model.ensemble; }) {
      if (ensemble() == nullptr || !config.model.ensemble.members.empty()) return;
      config.model.ensemble.members = read_members(*this);
      config.train.epochs = 0;
    }
  }

  Set set_;
  mutable std::string hash_;  // of the set, computed lazily
  Shape shape_;               // of the model
  std::shared_ptr<Model> model_;
};

/// Data errors for an empty split (the test split may be empty if it is unread) and for samples without a
/// class; notes classes without training or validation samples.
void require_parts(data::LabelledSamples& set, bool with_test);
/// {"train": …, "validation": …, "test": …}.
nlohmann::ordered_json part_sizes(const data::LabelledSamples& set);
/// Logs the notes and warnings of the set, without the note `left_out`.
void log_notes(const data::LabelledSamples& set, const std::string& left_out = "");

/// Class probabilities of samples, averaged over views, with their labels. Throws
/// train::EvaluationInterrupted if a stop signal arrives.
metrics::ScoreTable score_samples(const ClassificationRun& run, std::span<const int64_t> samples);
/// Stored validation scores of a finished run; for an ensemble those of its validation. no_input if it has
/// not finished.
metrics::ScoreTable validation_scores(const train::RunFolder& folder);
/// Samples of a split; data error if it is empty or, with `labelled`, if a sample has no class.
std::vector<int64_t> samples_of(const data::LabelledSamples& set, const std::string& split,
                                bool labelled = true);
/// Their scores; the same errors.
metrics::ScoreTable score_split(const ClassificationRun& run, const std::string& split, bool labelled = true);

}  // namespace modewise::tasks
