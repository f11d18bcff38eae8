#pragma once
// One optimizer step's gradients from the parts that its batches are cut into. The parts, the sums inside
// each and the tree that adds them depend on their number alone: 1, 2, 4, … processes that share them get the
// same bits (the idea is EasyScale's, Li et al., SC 2023).

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "modewise/train/distributed/gradient_exchange.h"
#include "modewise/train/loop/prefetcher.h"
#include "modewise/train/loop/sample_order.h"
#include "modewise/train/loop/task.h"
#include "modewise/train/loop/timing.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::train {

/// One part of a batch, as it is loaded.
struct BatchPart {
  int64_t batch = 0;  // counted through all epochs
  int64_t shard = 0;
  std::unique_ptr<Batch> samples;  // null where the part has none
};

class ShardedStep {
 public:
  /// Batches are cut into `shards` parts, of which each worker computes equally many.
  ShardedStep(Task& task, int64_t shards, uint64_t seed, Workers& workers);

  /// How many parts of each batch this process computes.
  int64_t own_parts() const { return shards_ / workers_.size(); }
  /// Part `index` of all that this process computes: part index % own_parts() of its own of batch
  /// index / own_parts(). For the loader's thread.
  std::unique_ptr<Batch> load(SampleOrder& order, int64_t index) const;
  /// This process's parts of `batches` batches from `first` on, which come next.
  std::vector<BatchPart> take(Prefetcher& loaded, int64_t first, int64_t batches) const;

  /// Leaves the gradient of a step in the trained tensors, and returns its loss: of the batches `first` …
  /// `first` + weights.size() − 1, batch b weighing `weights`[b − first]. `parts` are this process's.
  /// Running statistics move once, by the mean of what each part that has samples would move them. Sums leave
  /// for the other workers while the last of the parts is differentiated.
  double backward(const std::vector<BatchPart>& parts, int64_t first, std::span<const double> weights);

  /// What backward() waited for other workers.
  double seconds_waited() const { return waited_.seconds; }

 private:
  using Counts = std::vector<std::vector<double>>;  // Task::loss_counts of whole batches

  int64_t first_own() const { return workers_.rank() * own_parts(); }
  Counts counts_of(const std::vector<BatchPart>& parts, int64_t first, size_t batches);
  at::Tensor taken_gradient(size_t index);
  /// Adds to `moves` by how much running statistics differ from `before`, and moves them back.
  void note_moves(const std::vector<at::Tensor>& before, std::span<at::Tensor> moves);

  Task& task_;
  const int64_t shards_;
  const uint64_t seed_;
  Workers& workers_;
  std::vector<NamedTensor> trained_;
  std::vector<NamedTensor> running_;
  /// Of gradients, moves of running statistics, and [loss, parts that have samples].
  GradientExchange exchange_;
  int64_t count_size_ = 0;  // of one loss_counts
  Elapsed waited_;
};

/// The seed of one shard's dropout and other draws; the first has the training's own.
uint64_t shard_seed(uint64_t seed, int64_t shard);

}  // namespace modewise::train
