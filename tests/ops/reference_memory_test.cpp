// Memory of the reference kernels, which devices without kernels of their own run: in proportion to the
// tokens, forward and backward; and results in strips and blocks, against those of one matrix.

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/attention/full_attention.h"
#include "modewise/ops/attention/kronecker_attention.h"
#include "modewise/ops/attention/sparse_attention.h"
#include "modewise/ops/attention/synthesized_attention.h"
#include "modewise/ops/dense/mode_product.h"
#include "modewise/ops/kernel_info.h"
#include "modewise/ops/reference/strip_rows.h"
#include "tests/ops/tensors.h"
#include "tests/tensor_meter.h"

namespace modewise::ops {
namespace {

using Tensors = std::vector<at::Tensor>;
using Formula = std::function<at::Tensor(const Tensors&)>;

class Reference : public testing::Test {
 protected:
  void SetUp() override { use_reference(true); }
  void TearDown() override { use_reference(false); }
};
using ReferenceMemory = Reference;
using ReferenceStrips = Reference;

Tensors results(const Formula& formula, const Tensors& inputs) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) leaves.push_back(input.detach().requires_grad_(true));
  Tensors out = {formula(leaves)};
  out[0].backward(random_tensor(out[0].sizes().vec(), out[0].scalar_type(), 77));
  for (const at::Tensor& leaf : leaves) out.push_back(leaf.grad());
  out[0] = out[0].detach();
  return out;
}

/// Peak bytes, beyond the inputs, of a forward and a backward pass.
double peak_of(const Formula& formula, const Tensors& inputs) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) leaves.push_back(input.detach().requires_grad_(true));
  TensorMeter::begin();
  const TensorMeter meter;
  formula(leaves).sum().backward();
  return static_cast<double>(TensorMeter::peak());
}

/// Power with which the peak grows from `n` tokens to four times as many.
double power_of_growth(int64_t n, const std::function<double(int64_t)>& peak) {
  return std::log(peak(4 * n) / peak(n)) / std::log(4.0);
}

Tensors sequence(int64_t n, int64_t heads = 2, at::ScalarType type = at::kFloat) {
  return {random_tensor({1, n, heads, 8}, type), random_tensor({1, n, heads, 8}, type, 2),
          random_tensor({1, n, heads, 8}, type, 3)};
}

Formula attention(const TensorAttentionOptions& options, const std::optional<at::Tensor>& mask = {}) {
  return [=](const Tensors& in) {
    return tensor_attention(in[0], in[1], in[2], options, in.size() > 3 ? in[3] : at::Tensor(), {}, mask);
  };
}

TEST_F(ReferenceMemory, OfSummaryAttentionIsLinear) {
  const Formula formula = attention({.type = "summary", .fold = {0, 16, 16}, .window = 32});
  EXPECT_LT(power_of_growth(2048,
                            [&](int64_t n) {
                              Tensors inputs = sequence(n);
                              inputs.push_back(random_tensor({2, 2, 1, 8}, at::kFloat, 4));
                              return peak_of(formula, inputs);
                            }),
            1.05);
}

TEST_F(ReferenceMemory, OfAxialAttentionIsLinearForModesOfOneSize) {
  const auto peak = [&](int64_t n) {
    return peak_of(attention({.type = "axial", .fold = {0, 16, 16}}), sequence(n));
  };
  EXPECT_LT(std::log(peak(16 * 16 * 16) / peak(16 * 16 * 4)) / std::log(4.0), 1.05);
}

TEST_F(ReferenceMemory, OfCentredWindowsIsLinear) {
  const at::Tensor some = at::arange(8192).remainder(5).gt(0).unsqueeze(0);
  for (const bool masked : {false, true}) {
    const auto peak = [&](int64_t n) {
      const auto mask = masked ? std::optional(some.narrow(1, 0, n)) : std::nullopt;
      return peak_of(attention({.type = "window", .window = 24, .causal = false}, mask), sequence(n));
    };
    EXPECT_LT(power_of_growth(2048, peak), 1.05) << masked;
  }
}

TEST_F(ReferenceMemory, OfKroneckerAttentionIsLinear) {
  KroneckerAttentionOptions options;
  options.heads = 2;
  const auto peak = [&](int64_t n) {  // the first mode is long: 8 · 16 cells a position
    return peak_of(
        [&](const Tensors& in) {
          KroneckerAttentionWeights weights;
          weights.query_weight = in[2], weights.key_weight = in[3];
          return kronecker_attention(in[0], in[1], weights, options);
        },
        {random_tensor({1, n / 128, 8, 16, 16}, at::kFloat),
         random_tensor({1, n / 128, 8, 16, 16}, at::kFloat, 2), random_tensor({48, 16}, at::kFloat, 3),
         random_tensor({48, 16}, at::kFloat, 4)});
  };
  EXPECT_LT(power_of_growth(8192, peak), 1.05);
}

TEST_F(ReferenceMemory, OfAModeProductHasNoCopiesOfTheFactor) {
  const at::Tensor x = random_tensor({1, 512, 2, 64}, at::kFloat);
  const at::Tensor factor = random_tensor({1, 1, 512, 512}, at::kFloat, 2);
  EXPECT_LT(peak_of([](const Tensors& in) { return mode_product(in[0], in[1], 0); }, {x, factor}),
            8.0 * static_cast<double>(x.nbytes() + factor.nbytes()));
}

// Beyond one strip, quadratic memory would grow with power 2.
TEST_F(ReferenceMemory, OfAllScoresIsThatOfStrips) {
  const reference::StripLimit limit(int64_t{1} << 18);
  const int64_t n = 640;
  ASSERT_LT(reference::strip_rows(n), n);
  const auto power = [&](const std::function<double(int64_t)>& peak) {
    return std::log(peak(2 * n) / peak(n)) / std::log(2.0);
  };
  for (const char* type : {"random", "topk"})
    EXPECT_LT(power([&](int64_t tokens) { return peak_of(attention({.type = type}), sequence(tokens, 1)); }),
              1.5)
        << type;
  EXPECT_LT(
      power([&](int64_t tokens) {
        return peak_of(
            [&](const Tensors& in) {
              return synthesized_attention(in[0], {in[1], in[2], in[3], in[4]}, tokens);
            },
            {random_tensor({1, tokens, 1, 8}, at::kFloat), random_tensor({1, tokens, 1, 3}, at::kFloat, 2),
             random_tensor({1, tokens, 1, 3}, at::kFloat, 3),
             random_tensor({1, tokens / 64, tokens / 64}, at::kFloat, 4),
             random_tensor({1, 64, 64}, at::kFloat, 5)});
      }),
      1.5);
}

TEST_F(ReferenceMemory, IsLinearWithDropoutAndMasks) {
  const reference::StripLimit limit(int64_t{1} << 17);
  const at::Tensor some = at::arange(2048).remainder(5).gt(0).unsqueeze(0);
  for (const char* type : {"full", "axial", "window"})
    for (const double dropout : {0.0, 0.2})
      for (const bool masked : {false, true}) {
        TensorAttentionOptions options = {.type = type, .dropout = dropout, .key = {.site = 17}};
        if (options.type == "axial") options.fold = {0, 2};
        if (options.type == "window") options.window = 24, options.causal = false;
        const auto peak = [&](int64_t n) {
          const auto mask = masked ? std::optional(some.narrow(1, 0, n)) : std::nullopt;
          return peak_of(attention(options, mask), sequence(n));
        };
        EXPECT_LT(power_of_growth(512, peak), 1.05)
            << type << ", dropout " << dropout << ", masked " << masked;
      }
}

TEST_F(ReferenceMemory, OfFullAttentionOfATensorIsLinear) {
  const reference::StripLimit limit(int64_t{1} << 17);
  const at::Tensor some = at::arange(2048).remainder(5).gt(0);
  const auto peak = [&](int64_t n) {
    Tensors inputs;
    for (uint64_t seed : {1, 2, 3}) inputs.push_back(random_tensor({1, n / 16, 16, 8}, at::kFloat, seed));
    const at::Tensor mask = some.narrow(0, 0, n).view({1, n / 16, 16});
    return peak_of(
        [&](const Tensors& in) {
          return full_attention(in[0], in[1], in[2], 2, mask, 0.2, {.site = 17}, true);
        },
        inputs);
  };
  EXPECT_LT(power_of_growth(512, peak), 1.05);
}

TEST_F(ReferenceMemory, OfACachedStepIsThatOfTheCache) {
  TensorAttentionOptions options = {.type = "summary", .fold = {0, 8, 8}, .window = 16};
  for (const char* type : {"summary", "axial", "full"}) {
    options.type = type;
    const at::Tensor latents =
        latent_levels(options) > 0 ? random_tensor({2, 2, 1, 8}, at::kFloat) : at::Tensor();
    AttentionCache cache(options, latents);
    const Tensors all = sequence(600);
    const auto part = [&](int64_t first, int64_t count) {
      return cache.step(all[0].narrow(1, first, count), all[1].narrow(1, first, count),
                        all[2].narrow(1, first, count));
    };
    part(0, 590);
    TensorMeter::begin();
    const TensorMeter meter;
    part(590, 1);
    EXPECT_LT(TensorMeter::peak(), 8 * 600 * all[0].narrow(1, 0, 1).nbytes()) << type;
  }
}

void expect_close(const Tensors& got, const Tensors& wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_LT(largest_difference(got[i], wanted[i]), tolerance) << "result " << i;
}

/// Attention with the scores of all pairs, `seen` [n, n] bool.
Formula masked(const at::Tensor& seen) {
  return [=](const Tensors& in) {
    const auto heads_first = [](const at::Tensor& x) { return x.transpose(1, 2); };
    const auto logits = at::matmul(heads_first(in[0]), heads_first(in[1]).mT()) / std::sqrt(8.0);
    constexpr double kHidden = -std::numeric_limits<double>::infinity();
    const at::Tensor weights = at::softmax(logits.masked_fill(seen.logical_not(), kHidden), -1);
    return at::matmul(weights.nan_to_num(), heads_first(in[2])).transpose(1, 2);
  };
}

TEST_F(ReferenceStrips, OfCentredWindowsAreTheMaskedMatrix) {
  constexpr int64_t kTokens = 700;
  const Tensors inputs = sequence(kTokens, 2, at::kDouble);
  const at::Tensor valid = at::arange(kTokens).remainder(7).ne(3).logical_and(at::arange(kTokens).gt(4));
  for (const int64_t window : {1, 30, 300}) {
    const TensorAttentionOptions options = {.type = "window", .window = window, .causal = false};
    const at::Tensor place = at::arange(kTokens);
    const at::Tensor start = (place - window / 2).clamp(0, kTokens - window).unsqueeze(1);
    const at::Tensor seen = place.ge(start).logical_and(place.lt(start + window));
    expect_close(results(attention(options), inputs), results(masked(seen), inputs), 1e-10);

    // The windows of valid tokens, and of the masked tokens, which have that of the valid token before them.
    const at::Tensor mask = valid.unsqueeze(0);
    const at::Tensor of_valid = near_mask(inputs[0], mask, window, 0)[0];
    const Formula dense = [&](const Tensors& in) {  // queries of masked tokens are 0
      Tensors shown;
      for (const at::Tensor& one : in) shown.push_back(one * valid.view({1, kTokens, 1, 1}));
      return masked(of_valid)(shown);
    };
    expect_close(results(attention(options, mask), inputs), results(dense, inputs), 1e-10);
    const at::Tensor kept = valid.nonzero().squeeze(1);
    Tensors shorter;
    for (const at::Tensor& input : inputs) shorter.push_back(input.index_select(1, kept));
    const at::Tensor got = attention(options, mask)(inputs).index_select(1, kept);
    EXPECT_LT(largest_difference(got, attention(options)(shorter)), 1e-12);
  }
}

TEST_F(ReferenceStrips, OfSparseAttentionAreItsRows) {
  const reference::StripLimit limit(int64_t{1} << 18);
  constexpr int64_t kTokens = 420;
  const Tensors inputs = sequence(kTokens, 4, at::kDouble);
  ASSERT_LT(reference::strip_rows(4 * kTokens), kTokens);
  for (const bool random : {true, false}) {
    SparseOptions options = {.random = random, .density = 0.02};
    options.softmax_options.scale = 0.4;
    const Formula whole = [&](const Tensors& in) { return sparse_attention(in[0], in[1], in[2], options); };
    const Formula parts = [&](const Tensors& in) {
      Tensors out;
      for (int64_t first = 0; first < kTokens; first += 140)
        out.push_back(sparse_attention(in[0].narrow(1, first, 140), in[1], in[2], options, first));
      return at::cat(out, 1);
    };
    expect_close(results(whole, inputs), results(parts, inputs), 1e-10);
  }
}

// The kernels of the CPU are other code, in tiles.
TEST_F(ReferenceStrips, OfSummaryAndSynthesizedAttentionAreTheKernelsResults) {
  Tensors inputs = sequence(1300, 2, at::kDouble);
  inputs.push_back(random_tensor({2, 2, 3, 8}, at::kDouble, 4));
  const Formula summary = attention({.type = "summary", .fold = {0, 5, 7}, .window = 20});
  const reference::StripLimit limit(int64_t{1} << 14);
  constexpr int64_t kRows = 300;
  const Formula synthesized = [](const Tensors& in) {
    return synthesized_attention(in[0], {in[1], in[2], in[3], in[4]}, kRows, {}, true);
  };
  const Tensors logits = {random_tensor({1, kRows, 2, 4}), random_tensor({1, kRows, 2, 3}, at::kDouble, 2),
                          random_tensor({1, kRows, 2, 3}, at::kDouble, 3),
                          random_tensor({2, 10, 11}, at::kDouble, 4),
                          random_tensor({2, 31, 30}, at::kDouble, 5)};
  ASSERT_LT(reference::strip_rows(2 * kRows), kRows);
  const Tensors of_summary = results(summary, inputs), of_synthesized = results(synthesized, logits);
  use_reference(false);
  expect_close(of_summary, results(summary, inputs), 1e-10);
  expect_close(of_synthesized, results(synthesized, logits), 1e-9);
}

}  // namespace
}  // namespace modewise::ops
