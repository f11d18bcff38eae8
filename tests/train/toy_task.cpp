#include "toy_task.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/square.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "modewise/core/random.h"

namespace modewise::train {
namespace {

constexpr int64_t kInputs = 8, kHidden = 300, kOutputs = 120;  // 36,000 weights: more than one thread's share

struct ToyBatch : Batch {
  at::Tensor inputs, targets;
};

at::Tensor normal(at::IntArrayRef shape, double stddev, const RandomStream& stream) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  float* data = tensor.mutable_data_ptr<float>();
  for (int64_t i = 0; i < tensor.numel(); ++i)
    data[i] = static_cast<float>(stddev * stream.normal(static_cast<uint64_t>(i)));
  return tensor;
}

/// x [B, K] · weight [M, K]ᵀ as elementwise products summed along K: matrix products of small odd shapes
/// depend on the number of threads (docs/training.md), sums along one dimension do not.
at::Tensor weighted_sums(const at::Tensor& x, const at::Tensor& weight) {
  return (x.unsqueeze(1) * weight).sum(-1);
}

}  // namespace

ToyNet::ToyNet(uint64_t seed) {
  first_weight =
      register_parameter("first_weight", normal({kHidden, kInputs}, 0.3, {seed, RandomSite::weights, 0}));
  first_bias = register_parameter("first_bias", at::zeros({kHidden}));
  norm_weight = register_parameter("norm_weight", at::ones({kHidden}));
  second_weight =
      register_parameter("second_weight", normal({kOutputs, kHidden}, 0.05, {seed, RandomSite::weights, 1}));
  second_bias = register_parameter("second_bias", at::zeros({kOutputs}));
  register_buffer("forward_count", at::zeros({1}, at::kLong));
  hidden_mean = register_buffer("hidden_mean", at::zeros({kHidden}));
}

at::Tensor ToyNet::forward(const at::Tensor& x, double dropout, uint64_t seed, uint64_t step) {
  at::Tensor hidden = at::relu(weighted_sums(x, first_weight) + first_bias) * norm_weight;
  if (is_training()) hidden_mean.mul_(0.9).add_(hidden.detach().mean(0), 0.1);
  if (dropout > 0) {
    at::Tensor mask = at::empty(hidden.sizes(), at::kFloat);
    float* data = mask.mutable_data_ptr<float>();
    const RandomStream stream{seed, RandomSite{16}, step};
    for (int64_t i = 0; i < mask.numel(); ++i)
      data[i] =
          stream.uniform(static_cast<uint64_t>(i)) < dropout ? 0.0f : static_cast<float>(1 / (1 - dropout));
    hidden = hidden * mask;
  }
  return weighted_sums(hidden, second_weight) + second_bias;
}

ToyTask::ToyTask(int64_t samples, uint64_t seed)
    : net(std::make_shared<ToyNet>(seed)), seen(at::zeros({1}, at::kLong)) {
  inputs_ = normal({samples, kInputs}, 1.0, {seed, RandomSite::simulation, 0});
  targets_ =
      at::sin(weighted_sums(inputs_, normal({kOutputs, kInputs}, 0.5, {seed, RandomSite::simulation, 1})));
}

std::unique_ptr<Batch> ToyTask::load(std::span<const int64_t> samples) const {
  if (on_load) on_load(samples);
  auto batch = std::make_unique<ToyBatch>();
  const at::Tensor index = at::tensor(at::ArrayRef<int64_t>(samples.data(), samples.size()), at::kLong);
  batch->inputs = inputs_.index_select(0, index);
  batch->targets = targets_.index_select(0, index);
  return batch;
}

at::Tensor ToyTask::loss(const Batch& batch, uint64_t seed, uint64_t step) {
  const auto& toy = static_cast<const ToyBatch&>(batch);
  seen.add_(1);
  if (on_loss) on_loss(step);
  // The mean over one dimension, then over at most a batch of numbers: both single-threaded.
  return at::square(net->forward(toy.inputs, dropout, seed, step) - toy.targets).mean(1).mean();
}

std::vector<double> ToyTask::loss_counts(const Batch& batch) const {
  return {static_cast<double>(static_cast<const ToyBatch&>(batch).inputs.size(0))};
}

at::Tensor ToyTask::sums(const Share& share) {
  ++evaluations;
  const int64_t count = std::min<int64_t>(inputs_.size(0), 64);
  const int64_t first = share.first(count), own = share.last(count) - first;
  const at::Tensor error =
      net->forward(inputs_.narrow(0, first, own), 0, 0, 0) - targets_.narrow(0, first, own);
  return at::stack({at::square(error).mean(1).sum(), error.abs().mean(1).sum(),
                    at::scalar_tensor(own, at::TensorOptions(at::kFloat))})
      .to(at::kDouble);
}

Metrics ToyTask::metrics_of(const at::Tensor& sums) {
  Metrics metrics = {{"val_mse", sums[0].item<double>() / sums[2].item<double>()},
                     {"val_mae", sums[1].item<double>() / sums[2].item<double>()}};
  if (on_evaluate) on_evaluate(metrics);
  return metrics;
}

}  // namespace modewise::train
