#include "modewise/train/distributed/shards.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "modewise/core/error.h"
#include "modewise/core/random.h"
#include "modewise/train/distributed/tree_sum.h"
#include "modewise/train/loop/gradient_hooks.h"

namespace modewise::train {
namespace {

/// Batch of an empty shard.
struct NoSamples final : Batch {};

std::vector<at::Tensor> copies(const std::vector<NamedTensor>& tensors) {
  std::vector<at::Tensor> out;
  for (const NamedTensor& one : tensors) out.push_back(one.tensor.detach().clone());
  return out;
}

/// The tensors that a step sums: gradients, updates of running statistics, loss and number of shards.
std::vector<at::Tensor> summed(const std::vector<NamedTensor>& trained,
                               const std::vector<NamedTensor>& running) {
  std::vector<at::Tensor> out;
  for (const NamedTensor& one : trained) out.push_back(one.tensor);
  for (const NamedTensor& one : running) out.push_back(one.tensor);
  out.push_back(at::zeros({2}, at::kDouble));
  return out;
}

}  // namespace

uint64_t shard_seed(uint64_t seed, int64_t shard) {
  if (shard == 0) return seed;
  const RandomStream stream{seed, RandomSite::shard, static_cast<uint64_t>(shard)};
  return uint64_t{stream.word(0)} << 32 | stream.word(1);
}

ShardedStep::ShardedStep(Task& task, int64_t shards, uint64_t seed, Workers& workers)
    : task_(task),
      shards_(shards),
      seed_(seed),
      workers_(workers),
      trained_(task.trained()),
      running_(task.running_statistics()),
      exchange_(workers, summed(trained_, running_)) {}

std::unique_ptr<Batch> ShardedStep::load(SampleOrder& order, int64_t index) const {
  const int64_t batch = index / own_parts(), shard = first_own() + index % own_parts();
  const std::span<const int64_t> all = order.samples_of(batch);
  const Share share{shard, shards_};
  const auto first = static_cast<size_t>(share.first(std::ssize(all)));
  const auto last = static_cast<size_t>(share.last(std::ssize(all)));
  if (first == last) return std::make_unique<NoSamples>();
  // Each shard has its own number, which keys its augmentation.
  return task_.load_batch(all.subspan(first, last - first), batch * shards_ + shard);
}

std::vector<BatchPart> ShardedStep::take(Prefetcher& loaded, int64_t first, int64_t batches) const {
  std::vector<BatchPart> parts;
  for (int64_t batch = first; batch < first + batches; ++batch)
    for (int64_t part = 0; part < own_parts(); ++part) {
      std::unique_ptr<Batch> samples = loaded.next();
      require(samples != nullptr, ErrorKind::internal, "the task loaded no batch {}", batch);
      if (dynamic_cast<const NoSamples*>(samples.get()) != nullptr) samples.reset();
      parts.push_back({batch, first_own() + part, std::move(samples)});
    }
  return parts;
}

ShardedStep::Counts ShardedStep::counts_of(const std::vector<BatchPart>& parts, int64_t first,
                                           size_t batches) {
  if (count_size_ == 0) {
    for (const BatchPart& part : parts)
      if (part.samples) count_size_ = std::ssize(task_.loss_counts(*part.samples));
    count_size_ = workers_.all_reduce_max(count_size_);
  }
  at::Tensor table = at::zeros({static_cast<int64_t>(batches), shards_, count_size_}, at::kDouble);
  for (const BatchPart& part : parts) {
    if (!part.samples) continue;
    const std::vector<double> counts = task_.loss_counts(*part.samples);
    double* row =
        table.mutable_data_ptr<double>() + ((part.batch - first) * shards_ + part.shard) * count_size_;
    std::copy(counts.begin(), counts.end(), row);
  }
  Timing::measure(waited_, [&] { workers_.all_reduce_sum(table); });  // one cell per worker: the others add 0
  Counts out(batches, std::vector<double>(static_cast<size_t>(count_size_)));
  const double* cell = table.const_data_ptr<double>();
  for (std::vector<double>& counts : out)
    for (int64_t shard = 0; shard < shards_; ++shard)
      for (double& count : counts) count += *cell++;
  return out;
}

at::Tensor ShardedStep::taken_gradient(size_t index) {
  at::Tensor& gradient = trained_[index].tensor.mutable_grad();
  at::Tensor taken = gradient.defined() ? gradient.contiguous() : at::Tensor();
  gradient.reset();
  return taken;
}

void ShardedStep::note_moves(const std::vector<at::Tensor>& before, std::span<at::Tensor> moves) {
  for (size_t i = 0; i < before.size(); ++i) {
    const at::Tensor by = running_[i].tensor - before[i];
    moves[i] = moves[i].defined() ? moves[i].add_(by) : by;
    running_[i].tensor.copy_(before[i]);
  }
}

double ShardedStep::backward(const std::vector<BatchPart>& parts, int64_t first,
                             std::span<const double> weights) {
  const Counts counts = counts_of(parts, first, weights.size());
  const std::vector<at::Tensor> before = copies(running_);
  const size_t trained = trained_.size(), running = running_.size(), totals = trained + running;
  const int64_t last_own = first_own() + own_parts() - 1;
  const BatchPart* last = nullptr;  // its backward pass completes the gradients
  for (const BatchPart& part : parts)
    if (part.shard == last_own && part.samples) last = &part;
  TreeSum tree;
  std::vector<at::Tensor> values;
  for (int64_t shard = first_own(); shard <= last_own; ++shard) {
    values.assign(totals + 1, {});
    values[totals] = at::zeros({2}, at::kDouble);
    double* total = values[totals].mutable_data_ptr<double>();  // loss, non-empty shards
    for (const BatchPart& part : parts) {
      if (part.shard != shard || !part.samples) continue;
      const auto batch = static_cast<size_t>(part.batch - first);
      const at::Tensor loss = task_.loss_share(*part.samples, shard_seed(seed_, shard),
                                               static_cast<uint64_t>(part.batch), counts[batch]);
      const at::Tensor weighed = weights[batch] == 1 ? loss : loss * weights[batch];
      const double value = weighed.item<double>();
      total[0] += value;
      total[1] += 1;
      std::optional<GradientHooks> sending;
      if (&part == last) {
        exchange_.bring(totals, tree.with_last(totals, values[totals]));
        sending.emplace(trained_,
                        [&](size_t i) { exchange_.bring(i, tree.with_last(i, taken_gradient(i))); });
      }
      if (std::isfinite(value)) weighed.backward();
      note_moves(before, std::span(values).subspan(trained, running));
    }
    for (size_t i = 0; i < trained; ++i) values[i] = taken_gradient(i);
    if (shard < last_own) tree.add(std::move(values));
  }
  for (size_t i = totals + 1; i-- > 0;)
    if (!exchange_.brought(i)) exchange_.bring(i, tree.with_last(i, values[i]));
  std::vector<at::Tensor> sums;
  Timing::measure(waited_, [&] { sums = exchange_.take(); });
  for (size_t i = 0; i < trained; ++i) trained_[i].tensor.mutable_grad() = sums[i];
  const double* total = sums[totals].const_data_ptr<double>();
  for (size_t i = 0; i < running; ++i)
    if (sums[trained + i].defined()) running_[i].tensor.add_(sums[trained + i] / total[1]);
  return total[0];
}

}  // namespace modewise::train
