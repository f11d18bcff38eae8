// Limits of the Triton kernels: the largest size that each takes, and the first above it. No kernel runs, and
// tensors have no numbers.

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "modewise/ops/attention/summary_attention.h"
#include "modewise/ops/attention/summary_step.h"
#include "modewise/ops/cuda/mode_product.h"
#include "modewise/ops/cuda/mode_scores.h"
#include "modewise/ops/cuda/short_attention.h"
#include "modewise/ops/cuda/summary_attention.h"
#include "modewise/ops/cuda/summary_step.h"

namespace modewise::ops::cuda {
namespace {

at::Tensor sized(at::IntArrayRef sizes, at::ScalarType type = at::kBFloat16) {
  return at::empty(sizes, at::TensorOptions(at::kMeta).dtype(type));
}

TEST(CudaRefusals, ModeScoresHaveALimitOfChannels) {
  const auto refusal = [](int64_t channels) {
    const at::Tensor q = sized({2, 5, 4 * channels});
    return mode_scores_refuses(q, q, 4, std::nullopt, std::nullopt);
  };
  EXPECT_EQ(refusal(128), "");
  EXPECT_EQ(refusal(129), "takes heads of at most 128 channels");
}

TEST(CudaRefusals, ShortAttentionHasLimitsOfTokensAndChannels) {
  struct Case {
    int64_t queries = 8, keys = 8, channels = 16, value_channels = 16, value_heads = 2;
    at::ScalarType type = at::kBFloat16;
    std::string refusal = "";
  };
  const std::string sizes = "takes at most 64 tokens and heads of at most 128 channels";
  const std::string floats = "takes at most 32 tokens in float32";
  for (const Case& one : std::vector<Case>{
           {},
           {.queries = 64, .keys = 64, .channels = 128, .value_channels = 128},
           {.queries = 65, .refusal = sizes},
           {.keys = 65, .refusal = sizes},
           {.channels = 129, .refusal = sizes},
           {.value_channels = 129, .refusal = sizes},
           {.queries = 32, .keys = 32, .type = at::kFloat},
           {.queries = 33, .type = at::kFloat, .refusal = floats},
           {.keys = 33, .type = at::kFloat, .refusal = floats},
           {.value_heads = 4},
           {.value_heads = 1, .refusal = "takes as many heads of values as of keys or of queries"},
           {.keys = 0, .refusal = "takes at least one key"},
       }) {
    const at::Tensor q = sized({3, one.queries, 4, one.channels}, one.type);
    const at::Tensor k = sized({3, one.keys, 2, one.channels}, one.type);
    const at::Tensor v = sized({3, one.keys, one.value_heads, one.value_channels}, one.type);
    EXPECT_EQ(short_attention_refuses(q, k, v, std::nullopt, false, 1), one.refusal);
  }
}

TEST(CudaRefusals, GradientsOfShortAttentionAreOfBfloat16) {
  const auto refusal = [](at::ScalarType type, int64_t batch) {
    const at::Tensor q = sized({batch, 8, 2, 16}, type);
    return short_attention_backward_refuses(q, q, q, q, std::nullopt, false, 1);
  };
  EXPECT_EQ(refusal(at::kBFloat16, 1), "");
  EXPECT_EQ(refusal(at::kFloat, 1), "takes bfloat16");
  EXPECT_EQ(refusal(at::kBFloat16, 0), "takes at least one gradient");
}

TEST(CudaRefusals, SummaryAttentionHasLimitsOfChannelsAndTokens) {
  const auto refusal = [](int64_t tokens, int64_t channels, int64_t value_channels) {
    const at::Tensor q = sized({1, tokens, 2, channels}), v = sized({1, tokens, 2, value_channels});
    return summary_attention_refuses(q, q, v, std::nullopt, {.fold = {0}}, {});
  };
  const int64_t limit = int64_t{1} << 24;
  EXPECT_EQ(refusal(64, 128, 128), "");
  EXPECT_EQ(refusal(64, 129, 16), "takes heads of at most 128 channels");
  EXPECT_EQ(refusal(64, 16, 129), "takes heads of at most 128 channels");
  EXPECT_EQ(refusal(limit, 16, 16), "");
  EXPECT_EQ(refusal(limit + 1, 16, 16), "takes at most 2^24 tokens and summary tokens");
}

TEST(CudaRefusals, GradientsOfSummaryAttentionHaveALimitOfSummaryTokens) {
  const auto refusal = [](at::ScalarType type, int64_t rows) {
    const at::Tensor q = sized({1, 64, 2, 16}, type), latents = sized({1, 2, rows, 16}, type);
    return summary_attention_backward_refuses(q, q, q, q, latents, q, q, {.fold = {0, 8}}, {});
  };
  const std::string summaries = "takes at most 32 summary tokens of a block in bfloat16, 16 in float32";
  EXPECT_EQ(refusal(at::kBFloat16, 32), "");
  EXPECT_EQ(refusal(at::kBFloat16, 33), summaries);
  EXPECT_EQ(refusal(at::kFloat, 16), "");
  EXPECT_EQ(refusal(at::kFloat, 17), summaries);
}

TEST(CudaRefusals, DecodingHasLimitsOfChannelsLevelsAndTokens) {
  struct Case {
    int64_t tokens = 1, channels = 16, value_channels = 16, summaries = 4, first = 0;
    size_t levels = 1;
    std::string refusal = "";
  };
  const int64_t last = std::numeric_limits<int32_t>::max() / 2;
  const std::string channels = "takes heads of at most 128 channels";
  for (const Case& one : std::vector<Case>{
           {},
           {.tokens = 10, .channels = 128, .value_channels = 128, .summaries = 32, .levels = 3},
           {.channels = 129, .refusal = channels},
           {.value_channels = 129, .refusal = channels},
           {.summaries = 33, .refusal = "takes at most 32 summary tokens of a block"},
           {.levels = 4, .refusal = "takes at most 3 levels of blocks"},
           {.tokens = 11, .refusal = "takes at most as many tokens as the window has"},
           {.first = last - 1},
           {.first = last, .refusal = "takes fewer than 2^30 tokens"},
       }) {
    const at::Tensor q = sized({1, one.tokens, 2, one.channels}),
                     v = sized({1, one.tokens, 2, one.value_channels});
    PartialBlocks open;
    open.latents = sized({2, one.summaries, one.channels});
    EXPECT_EQ(summary_step_refuses(q, q, v, q, {}, {}, std::vector<VisibleSummaries>(one.levels), open, {},
                                   {.first = one.first, .window = 10}),
              one.refusal);
  }
}

TEST(CudaRefusals, ModeProductsHaveALimitOfASample) {
  const auto refusal = [](int64_t rows) {
    return mode_product_refuses(sized({1, rows, 1 << 10}), sized({1, 4, rows}), 0);
  };
  EXPECT_EQ(refusal(1 << 20), "");
  EXPECT_EQ(refusal((1 << 20) + 1), "takes samples of fewer than 2^30 numbers");
}

}  // namespace
}  // namespace modewise::ops::cuda
