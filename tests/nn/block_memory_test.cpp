// Memory of a block for its backward pass, in units of activations [B, N_1 … N_k, D]; recomputation is
// bit-identical.

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "modewise/nn/layers/block.h"
#include "modewise/ops/training/recompute_mode.h"
#include "tests/tensor_meter.h"

namespace modewise::nn {
namespace {

constexpr int64_t kBlockWidth = 32, kHidden = 4 * kBlockWidth, kBlockHeads = 4;

struct Case {
  std::string name;
  std::vector<int64_t> sizes = {65, 7};
  double dropout = 0.1, layer_scale = 0;
  bool masked = false, gelu = false;
  at::ScalarType type = at::kFloat;
  ops::KroneckerAttentionOptions attention = {};
};

std::shared_ptr<Block> block_of(const Case& c, Initializer& init) {
  ops::KroneckerAttentionOptions options = c.attention;
  options.heads = kBlockHeads;
  options.rope_modes = {1};
  std::shared_ptr<FeedForward> feed_forward;
  if (c.gelu)
    feed_forward = std::make_shared<GELUNetwork>(init, kBlockWidth, kHidden, c.dropout);
  else
    feed_forward = std::make_shared<SwiGLU>(init, kBlockWidth, kHidden);
  return std::make_shared<Block>(
      init, kBlockWidth,
      std::make_shared<KroneckerAttention>(init, kBlockWidth, static_cast<int64_t>(c.sizes.size()), true,
                                           options.kernel == "linear" ? 0 : c.dropout, options),
      feed_forward, c.dropout, c.layer_scale);
}

at::Tensor input_of(const Case& c) {
  std::vector<int64_t> shape = {2};
  shape.insert(shape.end(), c.sizes.begin(), c.sizes.end());
  shape.push_back(kBlockWidth);
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return (at::arange(count, at::kFloat) * 0.7).sin().view(shape).to(c.type);
}

/// Output, gradient of the input, gradients of the parameters of two blocks.
std::vector<at::Tensor> trained(const Case& c, bool recompute) {
  Initializer init(3);
  const auto first = block_of(c, init), second = block_of(c, init);
  const at::Tensor x = input_of(c).requires_grad_(true);
  std::optional<at::Tensor> mask;
  if (c.masked) mask = x.detach().select(-1, 0).gt(-0.5);
  at::Tensor y;
  {
    const ops::RecomputeGuard guard(recompute);
    y = second->forward(first->forward(x, mask), mask);
  }
  (y.to(at::kFloat) * input_of(c).to(at::kFloat).cos()).sum().backward();
  std::vector<at::Tensor> out = {y.detach(), x.grad()};
  for (const auto& block : {first, second})
    for (const auto& item : block->named_parameters()) {
      EXPECT_TRUE(item.value().grad().defined()) << c.name << " " << item.key();
      out.push_back(item.value().grad());
    }
  return out;
}

std::vector<Case> cases() {
  std::vector<Case> out = {{.name = "product"},
                           {.name = "no_dropout", .dropout = 0},
                           {.name = "short_modes", .sizes = {7, 5, 3}},
                           {.name = "short_first", .sizes = {5, 67}},
                           {.name = "one_long_mode", .sizes = {130, 1}},
                           {.name = "scaled", .layer_scale = 0.5},
                           {.name = "masked", .masked = true},
                           {.name = "gelu", .gelu = true},
                           {.name = "bf16", .type = at::kBFloat16},
                           {.name = "masked_bf16", .masked = true, .type = at::kBFloat16}};
  for (const auto combine : {ops::Combine::sum, ops::Combine::mean}) {
    out.push_back({.name = combine == ops::Combine::sum ? "sum" : "mean", .masked = true});
    out.back().attention.combine = combine;
  }
  out.push_back({.name = "shared"});
  out.back().attention.share_modes = true;
  out.push_back({.name = "linear"});
  out.back().attention.kernel = "linear";
  return out;
}

TEST(BlockMemory, RecomputeModeChangesNoBit) {
  for (const Case& c : cases()) {
    const auto kept = trained(c, false), again = trained(c, true);
    ASSERT_EQ(kept.size(), again.size());
    for (size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(at::equal(kept[i], again[i])) << c.name << " " << i;
  }
}

struct Taken {
  double kept, peak;  // between forward and backward, and maximum
};

/// Memory of a block, in units of its input.
Taken taken(const Case& c, bool recompute) {
  Initializer init(3);
  const auto block = block_of(c, init);
  const at::Tensor x = input_of(c).requires_grad_(true);
  const auto activation = static_cast<double>(x.nbytes());
  TensorMeter::begin();
  const TensorMeter meter;
  at::Tensor loss;
  {
    const ops::RecomputeGuard guard(recompute);
    loss = block->forward(x, std::nullopt).sum();
  }
  const auto kept = static_cast<double>(TensorMeter::now());
  loss.backward();
  return {kept / activation, static_cast<double>(TensorMeter::peak()) / activation};
}

// Kept: a norm, the values, two mode products, the residual sum, a norm, the 2 · 4 hidden activations, and
// the long mode's factor and its dropout copy, 65 · 4 / (7 · 32) each; pooled tensors are small. With
// recomputation only the first mode product and the residual sum remain.
TEST(BlockMemory, KeepsWhatItsBackwardNeeds) {
  const Taken all = taken({.name = "all"}, false), few = taken({.name = "few"}, true);
  EXPECT_LT(all.kept, 17.4);
  EXPECT_LT(few.kept, 3.1);
}

TEST(BlockMemory, TakesLessAtOneTimeToo) {
  const std::vector<int64_t> sizes = {129, 65};
  const Taken all = taken({.name = "all", .sizes = sizes}, false),
              few = taken({.name = "few", .sizes = sizes}, true);
  EXPECT_LT(few.peak + 8, all.peak);  // the hidden activations, at least
}

}  // namespace
}  // namespace modewise::nn
