#include "modewise/train/shards.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "modewise/core/error.h"
#include "modewise/core/random.h"
#include "modewise/train/tree_sum.h"

namespace modewise::train {
namespace {

/// Of a part without samples.
struct NoSamples final : Batch {};

std::vector<at::Tensor> copies(const std::vector<NamedTensor>& tensors) {
  std::vector<at::Tensor> out;
  for (const NamedTensor& one : tensors) out.push_back(one.tensor.detach().clone());
  return out;
}

/// The tensors of all workers added, in place: those of one type in one message. A tensor that is undefined
/// everywhere stays so.
void add_over(Workers& workers, std::vector<at::Tensor>& values, const std::vector<at::Tensor>& like) {
  if (workers.size() == 1) return;
  at::Tensor defined = at::zeros({std::ssize(values)}, at::kLong);
  for (size_t i = 0; i < values.size(); ++i)
    defined.mutable_data_ptr<int64_t>()[i] = values[i].defined() ? 1 : 0;
  workers.add(defined);
  std::map<at::ScalarType, std::vector<size_t>> of_type;
  for (size_t i = 0; i < values.size(); ++i) {
    if (defined.const_data_ptr<int64_t>()[i] == 0) continue;
    if (!values[i].defined()) values[i] = at::zeros_like(like[i]);
    of_type[values[i].scalar_type()].push_back(i);
  }
  for (const auto& [type, which] : of_type) {
    std::vector<at::Tensor> flat;
    for (const size_t i : which) flat.push_back(values[i].reshape(-1));
    at::Tensor all = at::cat(flat);
    workers.add(all);
    int64_t begin = 0;
    for (const size_t i : which) {
      values[i] = all.narrow(0, begin, values[i].numel()).view(values[i].sizes());
      begin += values[i].numel();
    }
  }
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
      running_(task.running_statistics()) {}

std::unique_ptr<Batch> ShardedStep::load(SampleOrder& order, int64_t index) const {
  const int64_t batch = index / own_parts(), shard = first_own() + index % own_parts();
  const std::span<const int64_t> all = order.samples_of(batch);
  const Share share{shard, shards_};
  const auto first = static_cast<size_t>(share.first(std::ssize(all)));
  const auto last = static_cast<size_t>(share.last(std::ssize(all)));
  if (first == last) return std::make_unique<NoSamples>();
  // Augmentation is drawn by a number of the part's own.
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
    count_size_ = workers_.largest(count_size_);
  }
  at::Tensor table = at::zeros({static_cast<int64_t>(batches), shards_, count_size_}, at::kDouble);
  for (const BatchPart& part : parts) {
    if (!part.samples) continue;
    const std::vector<double> counts = task_.loss_counts(*part.samples);
    double* row =
        table.mutable_data_ptr<double>() + ((part.batch - first) * shards_ + part.shard) * count_size_;
    std::copy(counts.begin(), counts.end(), row);
  }
  workers_.add(table);  // each cell is of one worker: the others add 0
  Counts out(batches, std::vector<double>(static_cast<size_t>(count_size_)));
  const double* cell = table.const_data_ptr<double>();
  for (std::vector<double>& counts : out)
    for (int64_t shard = 0; shard < shards_; ++shard)
      for (double& count : counts) count += *cell++;
  return out;
}

double ShardedStep::backward(const std::vector<BatchPart>& parts, int64_t first,
                             std::span<const double> weights) {
  const Counts counts = counts_of(parts, first, weights.size());
  const std::vector<at::Tensor> before = copies(running_);
  const size_t trained = trained_.size(), running = running_.size();
  TreeSum tree;
  for (int64_t shard = first_own(); shard < first_own() + own_parts(); ++shard) {
    std::vector<at::Tensor> values(trained + running);
    at::Tensor totals = at::zeros({2}, at::kDouble);  // loss, parts that have samples
    double* total = totals.mutable_data_ptr<double>();
    for (const BatchPart& part : parts) {
      if (part.shard != shard || !part.samples) continue;
      const auto batch = static_cast<size_t>(part.batch - first);
      const at::Tensor loss = task_.loss_share(*part.samples, shard_seed(seed_, shard),
                                               static_cast<uint64_t>(part.batch), counts[batch]);
      const at::Tensor weighed = weights[batch] == 1 ? loss : loss * weights[batch];
      const double value = weighed.item<double>();
      total[0] += value;
      total[1] += 1;
      if (std::isfinite(value)) weighed.backward();
      for (size_t i = 0; i < running; ++i) {
        at::Tensor& moved = values[trained + i];
        const at::Tensor by = running_[i].tensor - before[i];
        moved = moved.defined() ? moved.add_(by) : by;
        running_[i].tensor.copy_(before[i]);
      }
    }
    for (size_t i = 0; i < trained; ++i) {
      at::Tensor& gradient = trained_[i].tensor.mutable_grad();
      if (gradient.defined()) values[i] = gradient.contiguous();
      gradient.reset();
    }
    values.push_back(totals);
    tree.add(std::move(values));
  }
  std::vector<at::Tensor> sums = tree.take();
  std::vector<at::Tensor> like;
  for (const NamedTensor& one : trained_) like.push_back(one.tensor);
  for (const NamedTensor& one : running_) like.push_back(one.tensor);
  like.push_back(sums.back());
  add_over(workers_, sums, like);
  for (size_t i = 0; i < trained; ++i) trained_[i].tensor.mutable_grad() = sums[i];
  const double* total = sums.back().const_data_ptr<double>();
  for (size_t i = 0; i < running; ++i)
    if (sums[trained + i].defined()) running_[i].tensor.add_(sums[trained + i] / total[1]);
  return total[0];
}

}  // namespace modewise::train
