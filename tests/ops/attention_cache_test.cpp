// Incremental decoding must equal whole-sequence attention; this also detects leaks of the future.

#include "modewise/ops/attention/attention_cache.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modewise/ops/attention/cache_size.h"
#include "modewise/ops/kernel_info.h"
#include "tests/error_of.h"
#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

struct Case {
  std::string name;
  TensorAttentionOptions options;
  int64_t summary_tokens = 1;
};

RotaryEmbedding code(int64_t width) {
  const auto base =
      at::pow(10000.0, at::arange(width / 2, at::kDouble) * (-2.0 / static_cast<double>(width)));
  return {.frequencies = at::stack({base, base / 3}), .gains = {1.1, 0.9}, .positions = {}};
}

std::vector<Case> cases() {
  return {{"full", {.type = "full"}},
          {"window", {.type = "window", .window = 7}},
          {"window of one", {.type = "window", .window = 1}},
          {"lambda", {.type = "lambda", .window = 5, .sinks = 3}},
          {"lambda with many sinks", {.type = "lambda", .window = 3, .sinks = 9}},
          {"random", {.type = "random", .density = 0.3}},
          {"top k", {.type = "topk", .density = 0.2}},
          {"axial", {.type = "axial", .fold = {0, 3, 4}}},
          {"summary of one mode", {.type = "summary", .fold = {0}, .window = 200}},
          {"summary of two modes", {.type = "summary", .fold = {0, 8}}},
          {"summary of three modes", {.type = "summary", .fold = {0, 3, 5}, .window = 6}, 3},
          {"summary beyond its blocks", {.type = "summary", .fold = {2, 3, 5}}, 2},
          {"summary of four modes", {.type = "summary", .fold = {9, 2, 3, 2}, .window = 2}, 2}};
}

class EveryForm : public testing::TestWithParam<Case> {};

TEST_P(EveryForm, GivesTokenByTokenWhatItGivesAtOnce) {
  const Case& tried = GetParam();
  const int64_t n = 103, heads = 4, groups = 2, d = 6, e = 5;
  const auto q = random_tensor({2, n, heads, d}), k = random_tensor({2, n, groups, d}, at::kDouble, 2);
  const auto v = random_tensor({2, n, groups, e}, at::kDouble, 3);
  at::Tensor latents;
  const auto modes = static_cast<int64_t>(tried.options.fold.size());
  if (tried.options.type == "summary" && modes > 1)
    latents = random_tensor({modes - 1, groups, tried.summary_tokens, d}, at::kDouble, 4);
  for (const RotaryEmbedding& rotary : {RotaryEmbedding{}, code(d)}) {
    const auto whole = tensor_attention(q, k, v, tried.options, latents, rotary);
    for (const std::vector<int64_t>& pieces :
         {std::vector<int64_t>{1}, {2, 1, 1, 5}, {70, 1, 1, 1}, {13}, {103}, {64, 39}}) {
      AttentionCache cache(tried.options, latents, rotary);
      std::vector<at::Tensor> out;
      for (int64_t done = 0, i = 0; done < n; ++i) {
        const int64_t count = std::min(n - done, pieces[static_cast<size_t>(i) % pieces.size()]);
        out.push_back(
            cache.step(q.narrow(1, done, count), k.narrow(1, done, count), v.narrow(1, done, count)));
        done += count;
        EXPECT_EQ(cache.length(), done);
      }
      EXPECT_LT(largest_difference(at::cat(out, 1), whole), 1e-13)
          << tried.name << ", pieces of " << pieces[0];
    }
  }
}

TEST_P(EveryForm, TakesTheBytesThatAreCountedBeforehand) {
  const Case& tried = GetParam();
  const int64_t heads = 4, groups = 2, d = 6;
  const auto modes = static_cast<int64_t>(tried.options.fold.size());
  for (const auto type : {at::kFloat, at::kBFloat16})
    for (const CachedText& text : {CachedText{0, 1, 0},
                                   {0, 1, 1},
                                   {0, 1, 103},
                                   {1, 512, 16},
                                   {63, 64, 2},
                                   {64, 64, 1},
                                   {130, 50, 70},
                                   {300, 512, 201}}) {
      at::Tensor latents;
      if (tried.options.type == "summary" && modes > 1)
        latents = random_tensor({modes - 1, groups, tried.summary_tokens, d}, type);
      AttentionCache cache(tried.options, latents);
      const auto take = [&](int64_t count) {
        cache.step(random_tensor({1, count, heads, d}, type), random_tensor({1, count, groups, d}, type),
                   random_tensor({1, count, groups, d}, type));
      };
      for (int64_t done = 0; done < text.prompt; done += text.chunk)
        take(std::min(text.chunk, text.prompt - done));
      for (int64_t i = 0; i < text.tokens; ++i) take(1);
      EXPECT_EQ(static_cast<double>(cache.bytes()),
                cache_bytes(tried.options, {heads, groups, d, tried.summary_tokens, type}, text).kept)
          << text.prompt << " by " << text.chunk << " and " << text.tokens;
    }
}

TEST_P(EveryForm, AStepThatItRefusesChangesNothing) {
  const Case& tried = GetParam();
  const int64_t n = 17, d = 4;
  const auto q = random_tensor({2, n, 4, d}), k = random_tensor({2, n, 2, d}, at::kDouble, 2),
             v = random_tensor({2, n, 2, 3}, at::kDouble, 3);
  const auto modes = static_cast<int64_t>(tried.options.fold.size());
  at::Tensor latents;
  if (tried.options.type == "summary" && modes > 1)
    latents = random_tensor({modes - 1, 2, tried.summary_tokens, d}, at::kDouble, 4);
  const auto whole = tensor_attention(q, k, v, tried.options, latents);
  AttentionCache cache(tried.options, latents);
  const auto step = [&](int64_t begin, int64_t count) {
    return cache.step(q.narrow(1, begin, count), k.narrow(1, begin, count), v.narrow(1, begin, count));
  };
  const auto refused = [&](const at::Tensor& a, const at::Tensor& b, const at::Tensor& c) {
    return exception_of<c10::ValueError>([&] { cache.step(a, b, c); });
  };
  EXPECT_NE(refused(q, k.narrow(0, 0, 1), v), "");
  EXPECT_EQ(cache.length(), 0);
  step(0, 4);
  const auto one = [](const at::Tensor& x) { return x.narrow(1, 4, 1); };
  EXPECT_EQ(refused(one(q).narrow(0, 0, 1), one(k).narrow(0, 0, 1), one(v).narrow(0, 0, 1)),
            "attention_cache: k must be [2, t, 2, 4], as in the first step, got [1, 1, 2, 4]");
  EXPECT_EQ(refused(one(q), one(k), one(v).narrow(3, 0, 2)),
            "attention_cache: v must be [2, t, 2, 3], as in the first step, got [2, 1, 2, 2]");
  EXPECT_EQ(refused(one(q), one(k).narrow(2, 0, 1), one(v).narrow(2, 0, 1)),
            "attention_cache: k must be [2, t, 2, 4], as in the first step, got [2, 1, 1, 4]");
  EXPECT_EQ(refused(one(q).narrow(3, 0, 2), one(k).narrow(3, 0, 2), one(v)),
            "attention_cache: k must be [2, t, 2, 4], as in the first step, got [2, 1, 2, 2]");
  EXPECT_EQ(refused(one(q).to(at::kFloat), one(k).to(at::kFloat), one(v).to(at::kFloat)),
            "attention_cache: k must have the type of the first step, Double, got Float");
  EXPECT_EQ(cache.length(), 4);
  EXPECT_LT(largest_difference(step(4, n - 4), whole.narrow(1, 4, n - 4)), 1e-13);
}

// Rows of 2 · 6 floats, for keys and values.
TEST(AttentionCache, BytesOfAnyLengthAreCountedAtOnce) {
  const CacheShape shape = {4, 2, 6, 3, at::kFloat};
  const double row = 2 * 6 * 4;
  const CacheBytes full = cache_bytes({.type = "full"}, shape, {.prompt = 24, .chunk = 16, .tokens = 9});
  EXPECT_EQ(full.kept, 2 * 64 * row);  // 16, 32, 64
  EXPECT_EQ(full.moving, 32 * row);    // one of keys and values
  EXPECT_EQ(full.read, 2 * 33 * row);  // used rows
  constexpr int64_t kLong = int64_t{1} << 40;
  EXPECT_EQ(cache_bytes({.type = "full"}, shape, {.tokens = kLong}).kept, 2 * 0x1p40 * row);
  const TensorAttentionOptions causal = {.type = "summary", .fold = {0, 8, 16}, .window = 40};
  const CacheBytes long_text = cache_bytes(causal, shape, {.tokens = kLong});
  // The window, 3 summary tokens of 8 − 1 siblings (capacity 21), and 2^33 blocks, capacity 3 · 2^k.
  EXPECT_GE(long_text.kept, 2 * (40 + 21 + 3 * 0x1p33) * row);
  EXPECT_LT(long_text.kept, 2 * (40 + 21 + 6 * 0x1p33 + 16) * row);
  EXPECT_GE(long_text.read, 2 * (40 + 3 * 0x1p33) * row);
}

// float32, one token per step, through wrap-arounds of the window and new groups of blocks.
TEST_P(EveryForm, StaysEqualForFourThousandTokens) {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);  // steps are too short to run in parallel
  Case tried = GetParam();
  const int64_t n = 4096, d = 8;
  // If two logits differ only by rounding, either may be the last that topk keeps.
  const auto type = tried.options.type == "topk" ? at::kDouble : at::kFloat;
  if (tried.options.type == "axial") tried.options.fold[0] = 0;
  const auto modes = static_cast<int64_t>(tried.options.fold.size());
  const auto q = random_tensor({1, n, 2, d}, type), k = random_tensor({1, n, 1, d}, type, 2);
  const auto v = random_tensor({1, n, 1, d}, type, 3);
  at::Tensor latents;
  if (tried.options.type == "summary" && modes > 1)
    latents = random_tensor({modes - 1, 1, tried.summary_tokens, d}, type, 4);
  const auto whole = tensor_attention(q, k, v, tried.options, latents, code(d));
  AttentionCache cache(tried.options, latents, code(d));
  std::vector<at::Tensor> out;
  for (int64_t t = 0; t < n; ++t)
    out.push_back(cache.step(q.narrow(1, t, 1), k.narrow(1, t, 1), v.narrow(1, t, 1)));
  at::set_num_threads(threads);
  EXPECT_LT(largest_difference(at::cat(out, 1), whole), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(AttentionCache, EveryForm, testing::ValuesIn(cases()), [](const auto& tried) {
  std::string name = tried.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

class StepsOfEverySet : public testing::TestWithParam<std::string> {};

TEST_P(StepsOfEverySet, StepsGiveTheSameBitsForAnyThreadsAndAreNearFloat64) {
  const std::string before = active_isa();
  use_isa(GetParam());
  const int threads = at::get_num_threads();
  const int64_t n = 150, heads = 6, groups = 3, d = 34, e = 21;
  const TensorAttentionOptions options = {.type = "summary", .fold = {0, 4, 16}, .window = 40};
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const auto q = random_tensor({2, n, heads, d}, type), k = random_tensor({2, n, groups, d}, type, 2);
    const auto v = random_tensor({2, n, groups, e}, type, 3),
               latents = random_tensor({2, groups, 3, d}, type, 4);
    const auto whole = tensor_attention(q.to(at::kDouble), k.to(at::kDouble), v.to(at::kDouble), options,
                                        latents.to(at::kDouble), code(d));
    const auto steps = [&](int count) {
      at::set_num_threads(count);
      AttentionCache cache(options, latents, code(d));
      std::vector<at::Tensor> out;
      for (int64_t t = 0; t < n; t += 50)
        out.push_back(cache.step(q.narrow(1, t, 50), k.narrow(1, t, 50), v.narrow(1, t, 50)));
      return at::cat(out, 1);
    };
    const auto alone = steps(1);
    EXPECT_TRUE(at::equal(alone, steps(3)));
    // At most twice the rounding error of the plain ATen formulas in this dtype: cached summary tokens are
    // rounded once more.
    use_reference(true);
    const auto plain = tensor_attention(q, k, v, options, latents, code(d));
    use_reference(false);
    const auto error = [&](const at::Tensor& x) {
      return (x.to(at::kDouble) - whole).square().mean().sqrt().item<double>();
    };
    EXPECT_LT(error(alone), 2 * error(plain)) << type;
    EXPECT_LT(error(alone), type == at::kFloat ? 1e-6 : 0x1p-9) << type;
  }
  at::set_num_threads(threads);
  use_isa(before);
}

INSTANTIATE_TEST_SUITE_P(AttentionCache, StepsOfEverySet, testing::ValuesIn(available_isas()),
                         [](const auto& param) { return param.param; });

// Design bound: w + r·Σ n_l rows of keys and values instead of n, and the sums of the partial blocks.
TEST(AttentionCache, OfCausalFormKeepsTheWindowAndTheSlots) {
  const int64_t n = 8 * 8 * 4, d = 8, window = 8, row_bytes = 2 * d * 4;
  const auto rows = random_tensor({1, n, 1, d}, at::kFloat);
  for (const int64_t summary_tokens : {1, 4}) {
    AttentionCache cache({.type = "summary", .fold = {8, 8, 4}, .window = window},
                         at::zeros({2, 1, summary_tokens, d}, at::kFloat));
    for (int64_t done = 0; done < n; ++done) {
      const auto row = rows.narrow(1, done, 1);
      cache.step(row, row, row);
      const int64_t sums = 2 * summary_tokens * (row_bytes + 2 * 4);
      EXPECT_LE(cache.bytes(), (window + summary_tokens * (7 + 16)) * row_bytes + sums)
          << summary_tokens << " slots, token " << done;
    }
  }
}

TEST(AttentionCache, OfCausalFormIsASmallPartOfFullAttentions) {
  const int64_t n = 64 * 64 * 32, d = 2;
  const auto rows = random_tensor({1, n, 1, d}, at::kFloat);
  const auto bytes = [&](const TensorAttentionOptions& options, const at::Tensor& latents) {
    AttentionCache cache(options, latents);
    cache.step(rows, rows, rows);
    return cache.bytes();
  };
  const int64_t full = bytes({.type = "window", .window = n}, {});
  EXPECT_EQ(full, n * 2 * d * 4);
  const auto causal = [&](int64_t summary_tokens) {
    return bytes({.type = "summary", .fold = {64, 64, 32}}, at::zeros({2, 1, summary_tokens, d}, at::kFloat));
  };
  EXPECT_LE(causal(1), full / 600);
  EXPECT_LE(causal(4), full / 200);
}

TEST(AttentionCache, RefusesWhatCannotGoOn) {
  const auto x = random_tensor({1, 5, 1, 4});
  EXPECT_THAT([&] { AttentionCache({.type = "full", .causal = false}); },
              testing::ThrowsMessage<c10::ValueError>(
                  testing::HasSubstr("incremental decoding needs a causal form")));
  AttentionCache cache({.type = "axial", .fold = {2, 3}});
  cache.step(x, x, x);
  EXPECT_THAT([&] { cache.step(x, x, x); }, testing::ThrowsMessage<c10::ValueError>(testing::HasSubstr(
                                                "holds 6 tokens, the sequence would have 10")));
}

}  // namespace
}  // namespace modewise::ops
