#pragma once
// Task interface of the trainer: tensors, batches, loss, evaluation and criterion. The trainer depends on no
// model and no data set.

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

/// Named metrics in insertion order.
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
  /// Throws an internal error that lists the known names.
  double at(std::string_view name) const;
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool operator==(const Metrics&) const = default;

 private:
  std::vector<Entry> entries_;
};

/// A JSON object in the order of the metrics; non-finite values become null.
nlohmann::ordered_json to_json(const Metrics& metrics);
/// The inverse; null becomes NaN, other non-numbers are skipped.
Metrics metrics_from_json(const nlohmann::ordered_json& object);

/// The metric that selects the best weights and drives early stopping.
struct Criterion {
  std::string metric;
  bool lower_is_better = true;
  /// Tie-break: among equal values the lower value of this metric wins; "": the first. Ties do not reset the
  /// patience counter.
  std::string between_equals = {};
  /// Replaces an undefined (NaN) metric where `between_equals` is finite. Not set: an undefined metric ends
  /// the training.
  std::optional<double> undefined = {};

  /// The value that counts.
  double value(const Metrics& metrics) const;
};

/// A loaded batch: Task::load prepares it on the loader thread, Task::loss consumes it.
class Batch {
 public:
  virtual ~Batch() = default;
};

/// A PNG figure of the model, such as an attention map.
struct Image {
  std::string name;
  int64_t width = 0, height = 0;
  std::string png;
};

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// Thrown by Task::sums on core's stop_signal(): the trainer saves a checkpoint at once and repeats the
/// evaluation on resume.
struct EvaluationInterrupted {};

class Task {
 public:
  virtual ~Task() = default;

  /// The model's tensors under their names in files, each once.
  virtual std::vector<NamedTensor> tensors() = 0;
  /// The trainable tensors: master weights in float32 (float64 in tests). A bf16 model casts them in its
  /// forward pass.
  virtual std::vector<NamedTensor> trained() = 0;
  /// Switches between training mode (dropout on, running statistics updated) and evaluation mode.
  virtual void set_training(bool training) = 0;
  virtual int64_t training_samples() const = 0;
  /// Prepares the samples (0 ≤ index < training_samples()) of one batch. Called on the loader thread while
  /// loss() or sums() run: must not touch state that they change.
  virtual std::unique_ptr<Batch> load(std::span<const int64_t> samples) const = 0;
  /// The same for batch number `batch`, counted through all epochs: it keys random augmentation, so that a
  /// resumed run draws the same. Without augmentation: load(samples).
  virtual std::unique_ptr<Batch> load_batch(std::span<const int64_t> samples, int64_t /*batch*/) const {
    return load(samples);
  }
  /// The loss to minimize, a scalar with gradient: the mean over the batch. `step` counts training forward
  /// passes from 0 and keys the dropout; equal (seed, step) must give equal bits for any number of threads,
  /// so reduce the loss along a fixed tree.
  virtual at::Tensor loss(const Batch& batch, uint64_t seed, uint64_t step) = 0;
  /// Denominators of the mean in loss(): numbers of samples, observed cells, words, class weights. The same
  /// length for every batch; the counts of a batch's shards sum to the batch's.
  virtual std::vector<double> loss_counts(const Batch& batch) const = 0;
  /// The contribution of a shard to the loss of its batch, whose counts are `all`.
  virtual at::Tensor loss_share(const Batch& part, uint64_t seed, uint64_t step, std::span<const double> all);
  /// Tensors that the forward pass updates in training, such as running means of batch normalisation.
  virtual std::vector<NamedTensor> running_statistics() { return {}; }
  /// Metric sums over this share of the validation samples: [n] float64; the sums of all shares are added (a
  /// value of a single sample is 0 in the other shares). Called in evaluation mode without gradients.
  virtual at::Tensor sums(const Share& share) = 0;
  /// Validation metrics in order, e.g. {"val_mse", …}, from the sums over all samples. Called likewise.
  virtual Metrics metrics_of(const at::Tensor& sums) = 0;
  virtual Criterion criterion() const = 0;

  /// Figures of validation samples at an evaluation, called on rank 0 only, after metrics_of. Must not have
  /// side effects.
  virtual std::vector<Image> images() { return {}; }

  /// Learning rate factor of one of trained().
  virtual double rate_factor(std::string_view /*parameter*/) const { return 1; }

  /// Additional task state saved in checkpoints, besides the model's tensors.
  virtual nlohmann::json state() const { return nlohmann::json::object(); }
  virtual void load_state(const nlohmann::json&) {}
  /// Additional task tensors saved in checkpoints and loaded in place.
  virtual std::vector<NamedTensor> extra_tensors() { return {}; }
  /// Hash of the training data, e.g. content_hash of the file; resuming with other data is an error. "":
  /// unknown.
  virtual std::string data_hash() const { return ""; }
};

/// Validation metrics of a task from the sums over `shards` shards of the samples, distributed over workers.
Metrics evaluate(Task& task, int64_t shards = 1, Workers& workers = single_process());

}  // namespace modewise::train
