#pragma once
// What the trainer knows of a task: tensors, batches, a loss, an evaluation, and which way is better. The
// trainer knows no model and no data set.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/train/distributed/workers.h"

namespace modewise::train {

/// Values by name, in the order in which they were set.
class Metrics {
 public:
  using Entry = std::pair<std::string, double>;

  Metrics() = default;
  Metrics(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) set(entry.first, entry.second);
  }
  /// Adds `name`, or replaces its value in place.
  void set(std::string_view name, double value);
  std::optional<double> find(std::string_view name) const;
  /// Throws an internal error that lists the names there are.
  double at(std::string_view name) const;
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool operator==(const Metrics&) const = default;

 private:
  std::vector<Entry> entries_;
};

/// An object in the order of the metrics; values that are not finite become null.
nlohmann::ordered_json to_json(const Metrics& metrics);
/// The reverse; null becomes NaN. Values that are not numbers are left out.
Metrics metrics_from_json(const nlohmann::ordered_json& object);

/// The metric by which weights are compared: best weights, early stopping.
struct Criterion {
  std::string metric;
  bool lower_is_better = true;
  /// Of equal values the one where this metric is lower; "": the first. It does not count for the patience.
  std::string between_equals = {};
};

/// What Task::load prepares on the loader's thread and Task::loss consumes.
class Batch {
 public:
  virtual ~Batch() = default;
};

/// A picture of what a model does, such as where it looks.
struct Image {
  std::string name;
  int64_t width = 0, height = 0;
  std::string png;
};

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// Thrown by Task::sums when it saw core's stop_signal(): the trainer saves a checkpoint at once, and the
/// evaluation is made anew on resume.
struct EvaluationInterrupted {};

class Task {
 public:
  virtual ~Task() = default;

  /// The model's tensors under the names that they have in files, each once.
  virtual std::vector<NamedTensor> tensors() = 0;
  /// Those of them that are trained, float32 (or float64 in tests). bfloat16 is the model's own matter: it
  /// casts these master weights inside its forward.
  virtual std::vector<NamedTensor> trained() = 0;
  /// Whether the model trains (dropout acts, running statistics move) or is judged.
  virtual void set_training(bool training) = 0;
  virtual int64_t training_samples() const = 0;
  /// Prepares the samples (0 ≤ index < training_samples()) of one batch. Called on the loader's thread while
  /// loss() or sums() run: it must touch no state that those change.
  virtual std::unique_ptr<Batch> load(std::span<const int64_t> samples) const = 0;
  /// The same for batch number `batch` of the training, counted through all epochs: what keys random
  /// augmentation, so that a resumed run makes the same. Without augmentation: load(samples).
  virtual std::unique_ptr<Batch> load_batch(std::span<const int64_t> samples, int64_t /*batch*/) const {
    return load(samples);
  }
  /// The loss to minimise, a scalar with gradient, the mean over the batch's samples. `step` counts training
  /// forward passes from 0 and keys the dropout; equal (seed, step) must give equal bits for any number of
  /// threads, so the loss is reduced by a fixed tree.
  virtual at::Tensor loss(const Batch& batch, uint64_t seed, uint64_t step) = 0;
  /// What loss() is a mean over: samples, observed cells, words, weights of classes. As many numbers for each
  /// batch; the counts of a batch's parts add up to its own.
  virtual std::vector<double> loss_counts(const Batch& batch) const = 0;
  /// What a part of a batch adds to the loss of the whole, whose counts are `all`.
  virtual at::Tensor loss_share(const Batch& part, uint64_t seed, uint64_t step, std::span<const double> all);
  /// Tensors of the model that its forward moves in training, such as the means of batch normalisation.
  virtual std::vector<NamedTensor> running_statistics() { return {}; }
  /// What is summed over this share of the validation samples: [n] float64, of which those of other shares
  /// are added (a number that one sample alone has is 0 in the others). The model is being judged, gradients
  /// are off.
  virtual at::Tensor sums(const Share& share) = 0;
  /// Validation metrics in order, e.g. {"val_mse", …}, of the sums over all samples. The same.
  virtual Metrics metrics_of(const at::Tensor& sums) = 0;
  virtual Criterion criterion() const = 0;

  /// Pictures of validation samples at an evaluation, which the lead alone asks for behind metrics_of. The
  /// same; nothing may depend on whether it was asked.
  virtual std::vector<Image> pictures() { return {}; }

  /// What the learning rate of one of trained() is multiplied by.
  virtual double rate_factor(std::string_view /*parameter*/) const { return 1; }

  /// State of the task's own that checkpoints keep, besides the model's tensors.
  virtual nlohmann::json state() const { return nlohmann::json::object(); }
  virtual void load_state(const nlohmann::json&) {}
  /// Tensors of the task's own that checkpoints keep. They are restored in place.
  virtual std::vector<NamedTensor> extra_tensors() { return {}; }
  /// Names the training data, e.g. content_hash of the file; a resume with other data is refused. "":
  /// unknown.
  virtual std::string data_hash() const { return ""; }
};

/// The validation metrics of a task from the sums over `shards` parts of the samples, shared by the workers.
Metrics evaluate(Task& task, int64_t shards = 1, Workers& workers = single_process());

}  // namespace modewise::train
