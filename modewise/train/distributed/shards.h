#pragma once
// Data-parallel gradients of one optimizer step: each batch is split into a fixed number of shards. Shards,
// the sums inside each and the tree that adds them depend only on that number, so 1, 2, 4, … processes get
// the same bits (the idea is EasyScale's, Li et al., SC 2023).

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "modewise/train/distributed/gradient_exchange.h"
#include "modewise/train/distributed/workers.h"
#include "modewise/train/loop/prefetcher.h"
#include "modewise/train/loop/sample_order.h"
#include "modewise/train/loop/task.h"
#include "modewise/train/loop/timing.h"

namespace modewise::train {

/// One loaded shard of a batch.
struct BatchPart {
  int64_t batch = 0;  // counted through all epochs
  int64_t shard = 0;
  std::unique_ptr<Batch> samples;  // null if the shard is empty
};

class ShardedStep {
 public:
  /// Splits batches into `shards` parts; each worker computes equally many.
  ShardedStep(Task& task, int64_t shards, uint64_t seed, Workers& workers);

  /// The number of shards per batch that this process computes.
  int64_t own_parts() const { return shards_ / workers_.size(); }
  /// Loads shard number `index` of this process: its own shard index % own_parts() of batch
  /// index / own_parts(). Runs on the loader thread.
  std::unique_ptr<Batch> load(SampleOrder& order, int64_t index) const;
  /// This process's shards of the next `batches` batches, which start at batch `first`.
  std::vector<BatchPart> take(Prefetcher& loaded, int64_t first, int64_t batches) const;

  /// Sets the gradients of a step on the trained tensors and returns its loss: the sum over weights.size()
  /// batches from `first` on, batch b weighted by `weights`[b − first]. `parts` are this process's shards.
  /// Running statistics are updated once, by the mean update of the non-empty shards. The all-reduce overlaps
  /// with the backward pass of the last shard.
  double backward(const std::vector<BatchPart>& parts, int64_t first, std::span<const double> weights);

  /// Seconds that backward() waited for other workers.
  double seconds_waited() const { return waited_.seconds; }

 private:
  using Counts = std::vector<std::vector<double>>;  // Task::loss_counts of whole batches

  int64_t first_own() const { return workers_.rank() * own_parts(); }
  Counts counts_of(const std::vector<BatchPart>& parts, int64_t first, size_t batches);
  at::Tensor taken_gradient(size_t index);
  /// Adds the change of the running statistics since `before` to `moves`, and restores them.
  void note_moves(const std::vector<at::Tensor>& before, std::span<at::Tensor> moves);

  Task& task_;
  const int64_t shards_;
  const uint64_t seed_;
  Workers& workers_;
  std::vector<NamedTensor> trained_;
  std::vector<NamedTensor> running_;
  /// All-reduce of gradients, updates of running statistics, and [loss, number of non-empty shards].
  GradientExchange exchange_;
  int64_t count_size_ = 0;  // length of one loss_counts
  Elapsed waited_;
};

/// The seed of a shard's dropout and other random numbers; shard 0 uses the training seed.
uint64_t shard_seed(uint64_t seed, int64_t shard);

}  // namespace modewise::train
