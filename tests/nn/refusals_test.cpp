// Properties of the types in the attention registry, and error messages of modules, word by word.

#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "modewise/core/error.h"
#include "modewise/nn/attention/divided_attention.h"
#include "modewise/nn/attention/grid_attention.h"
#include "modewise/nn/attention/pooling_attention.h"
#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/nn/attention/synthesizer_attention.h"
#include "modewise/nn/embedding/grid_patches.h"
#include "modewise/nn/embedding/positions.h"
#include "modewise/nn/embedding/rotary_scaling.h"
#include "modewise/nn/embedding/time_head.h"
#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/attention/rotary.h"

namespace modewise::nn {
namespace {

using testing::IsSupersetOf;

/// The error message without the stack trace.
std::string said(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(AttentionRegistry, HasTheTypesOfThisTable) {
  std::vector<std::string> rows;
  for (const ops::AttentionType& type : ops::attention_types(ops::TokenLayout::grid))
    rows.push_back(std::string(type.name) + " " + std::string(type.code) + (type.causal ? " causal" : "") +
                   (type.cross_attention ? " cross" : "") + (type.reads_tokens ? "" : " blind"));
  EXPECT_THAT(
      rows,
      IsSupersetOf({"dot-product CT causal cross", "linformer CL cross", "dense SD causal cross", "stt STT",
                    "tensor-height STTH", "tensor-width STTW", "additive ", "random SR causal cross blind",
                    "random-fixed  causal cross blind", "factorized-dense FSD",
                    "factorized-random FSR causal cross blind", "product-random  blind", "mixture MS",
                    "mixture-dense  causal cross", "mixture-printed ", "kronecker ", "kronecker-sum "}));
}

std::set<std::string> parameters_of(const std::string& name, const AttentionTypeOptions& options = {}) {
  Initializer init(1);
  std::set<std::string> names;
  for (const auto& p : make_attention(init, name, {{2, 3}, 0, 8, 2}, options)->named_parameters())
    names.insert(p.key());
  return names;
}

TEST(AttentionRegistry, NormsQueriesAndKeysWhereItsFormDoes) {
  EXPECT_FALSE(parameters_of("dot-product").contains("q_norm.weight"));
  EXPECT_TRUE(parameters_of("kronecker").contains("q_norm.weight"));
  EXPECT_TRUE(parameters_of("kronecker-sum").contains("k_norm.bias"));
  EXPECT_TRUE(parameters_of("random").contains("logits.logits"));
  EXPECT_FALSE(parameters_of("random-fixed").contains("logits.logits"));
  EXPECT_TRUE(parameters_of("mixture-dense").contains("logits.source0.columns"));
  Initializer init(1);
  const auto map_of = [&](int64_t keys, int64_t projected) {
    const auto linformer = make_attention(init, "linformer", {{2}, keys, 8, 2}, {.projected = projected});
    return linformer->named_parameters()["key_map"].size(0);
  };
  EXPECT_EQ(map_of(12, 0), 3);
  EXPECT_EQ(map_of(3, 0), 1);
  EXPECT_EQ(map_of(12, 5), 5);
}

TEST(AttentionRegistry, RefusesInWholeSentences) {
  Initializer init(1);
  const auto refused = [&](const std::string& name, const SynthesizerShape& shape,
                           const AttentionTypeOptions& options = {}) {
    return said([&] { make_attention(init, name, shape, options); });
  };
  const SynthesizerShape grid = {{3, 5}, 0, 14, 2};
  EXPECT_EQ(refused("stx", grid), "unknown attention 'stx'");
  EXPECT_EQ(refused("STT", grid, {.causal = true}),
            "attention 'stt' cannot be causal: each of its rows depends on every token");
  EXPECT_EQ(refused("MS", {{3, 5}, 7, 14, 2}),
            "attention 'mixture' has no cross-attention: its definition has one feature map, so as many keys "
            "as tokens");
  EXPECT_EQ(refused("sr", {{3, 5}, 0, 15, 2}), "attention 'random': heads = 2 must divide the width 15");
  const std::string factors = "expected Kronecker factors of 15 rows and 8 columns, got rows ";
  const SynthesizerShape wide = {{3, 5}, 8, 14, 2};
  EXPECT_EQ(refused("fsr", wide, {.shapes = {{3, 5}, {2, 5}}}), factors + "[3, 5] and columns [2, 5]");
  EXPECT_EQ(refused("fsr", wide, {.shapes = {{3, 4}, {2, 4}}}), factors + "[3, 4] and columns [2, 4]");
  EXPECT_EQ(refused("fsr", wide, {.shapes = {{15}, {2, 4}}}), factors + "[15] and columns [2, 4]");
  EXPECT_EQ(refused("product-random", grid, {.shapes = {{3, 5}, {5, 3}}}),
            "product-random needs square factors, got rows [3, 5] and columns [5, 3]");
  EXPECT_EQ(said([&] { make_tensor_logits(init, wide, ReducedAxis::width); }),
            "a tensor synthesizer has as many keys as tokens, 15, got 8");
}

TEST(Mixture, RefusesTypesThatItCannotMix) {
  EXPECT_EQ(mixture_fault({"stt"}, {}), "");
  EXPECT_EQ(mixture_fault({"stt", "none"}, {"dense", "random"}),
            "has no effect: only attention mixture and mixture-dense mix types");
  for (const std::vector<std::string>& types :
       std::vector<std::vector<std::string>>{{"dense"}, {"stt", "stt"}})
    EXPECT_EQ(mixture_fault({"mixture"}, types), "must be two or more different types");
  EXPECT_EQ(mixture_fault({"mixture"}, {"random", "factorized-random"}),
            "may have only one of random, random-fixed and factorized-random");
  EXPECT_EQ(mixture_fault({"dot-product", "mixture-dense"}, {"stt", "random"}),
            "has 'stt', whose rows depend on every token: mixture-dense cannot mix it");
  EXPECT_EQ(mixture_fault({"mixture-dense"}, {"random", "dense"}), "");
  Initializer init(1);
  AttentionTypeOptions options;
  options.mixture = {"stt"};
  EXPECT_THAT(said([&] {
                make_attention(init, "mixture", {{3, 5}, 0, 14, 2}, options);
              }),
              testing::HasSubstr("mixture must be two or more different types"));
  options.mixture = {"stt", "linformer"};
  EXPECT_THAT(said([&] {
                make_attention(init, "mixture", {{3, 5}, 0, 14, 2}, options);
              }),
              testing::HasSubstr("a mixture has no type 'linformer'"));
}

TEST(AttentionRegistry, TakesTheTokensItWasMadeForAlone) {
  Initializer init(1);
  const at::Tensor rotated = at::randn({1, 5, 3, 14});
  const auto forward = [&](const std::string& name, const SynthesizerShape& shape, const at::Tensor& x) {
    const auto attention = make_attention(init, name, shape);
    return said([&] { attention->forward(x, {}); });
  };
  for (const char* name : {"sd", "stt", "sr", "fsr", "product-random"})
    EXPECT_EQ(forward(name, {{3, 5}, 0, 14, 2}, rotated),
              "a synthesizer built for tokens [3, 5] takes only these, got [5, 3]")
        << name;
  for (const char* name : {"sd", "sr", "fsr"})
    EXPECT_EQ(forward(name, {{7}, 0, 14, 2}, at::randn({1, 8, 14})),
              "a synthesizer built for tokens [7] takes at most as many, got [8]")
        << name;
  const auto attend = [&](const std::string& name, const SynthesizerShape& shape, const at::Tensor& x,
                          int64_t keys) {
    const auto attention = make_attention(init, name, shape);
    return said([&] { attention->attend(x, {at::randn({1, keys, 14}), {}}); });
  };
  EXPECT_EQ(attend("sr", {{7}, 4, 14, 2}, at::randn({1, 7, 14}), 6),
            "a synthesizer built for 4 keys takes at most as many, got 6");
  EXPECT_EQ(attend("sr", {{3, 5}, 4, 14, 2}, at::randn({1, 3, 5, 14}), 2),
            "a synthesizer built for 4 keys takes exactly as many, got 2");
  EXPECT_EQ(attend("linformer", {{7}, 4, 14, 2}, at::randn({1, 7, 14}), 6),
            "linformer built for 4 tokens takes at most as many, got 6");
  EXPECT_EQ(attend("kronecker", {{7}, 0, 14, 2}, at::randn({1, 7, 14}), 7),
            "this attention type mixes the tokens of one tensor: it has no cross-attention");
  const auto twice = make_mixed_logits(
      {make_random_logits(init, {{7}, 0, 14, 2}, true), make_random_logits(init, {{7}, 0, 14, 2}, true)});
  EXPECT_EQ(said([&] {
              twice->logits(at::randn({1, 7, 14}), 7);
            }),
            "a mixture takes one source with Kronecker factors, got two");
}

TEST(TokenAttention, HasKeysFromElsewhereWhereItReachesAll) {
  Initializer init(1);
  for (const TokenAttentionOptions& options : {TokenAttentionOptions{.scope = AttentionScope::spatial},
                                               TokenAttentionOptions{.rotary_modes = {0}}}) {
    TokenAttention attention(init, 8, 2, options);
    EXPECT_EQ(said([&] {
                attention.attend(at::randn({1, 3, 2, 8}), {at::randn({1, 4, 8}), {}});
              }),
              "cross-attention needs scope `all` and no rotary embedding");
  }
}

TEST(RotaryScaling, KnowsItsKinds) {
  RotaryScaling scaling;
  scaling.kind = "cubic";
  try {
    rotary_frequencies(scaling, 8);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::internal);
    EXPECT_STREQ(error.what(), "unknown rotary scaling 'cubic'");
  }
}

TEST(FactorProductAttention, IsFiniteWhereNoTokenIsValid) {
  Initializer init(1);
  const auto attention = make_attention(init, "product-random", {{3, 5}, 0, 14, 2});
  const at::Tensor x = at::randn({2, 3, 5, 14}), none = at::zeros({2, 3, 5}, at::kBool);
  EXPECT_EQ(attention->full_matrix(x, none).abs().max().item<float>(), 0);
  EXPECT_TRUE(attention->forward(x, none).isfinite().all().item<bool>());
}

TEST(TokenModules, RefuseHeadsAndModesThatDoNotFit) {
  Initializer init(1);
  const at::Tensor x = at::randn({1, 3, 4, 8});
  const auto heads = [&](int64_t count) { return said([&] { TokenAttention(init, 8, count, {}); }); };
  EXPECT_EQ(heads(0), "TokenAttention: heads = 0 must divide the width 8");
  EXPECT_EQ(heads(-2), "TokenAttention: heads = -2 must divide the width 8");
  EXPECT_EQ(heads(3), "TokenAttention: heads = 3 must divide the width 8");
  EXPECT_EQ(said([&] { DividedAttention(init, 8, 0, 2, {}); }),
            "DividedAttention: heads = 0 must divide the width 8");
  EXPECT_EQ(said([&] {
              PoolingAttention(init, 8, 0, {3, 4}, 0);
            }),
            "PoolingAttention: heads = 0 must divide the width 8");
  EXPECT_EQ(said([&] {
              make_attention(init, "dense", {{3, 4}, 0, 8, 0});
            }),
            "attention 'dense': heads = 0 must divide the width 8");
  EXPECT_EQ(said([&] { TimeHead(init, TimePooling::attention, 4, 8, 0, 6, 0); }),
            "TimeHead: heads = 0 must divide the width 8");
  EXPECT_EQ(said([] { compared_pairs({.width = 8, .heads = 0}, 3); }),
            "compared_pairs: heads = 0 must divide the width 8");
  const auto kronecker = [&](int64_t count, const std::vector<int64_t>& modes,
                             const std::vector<std::string>& masks = {}) {
    ops::KroneckerAttentionOptions options;
    options.heads = count;
    options.attend_modes = modes;
    return said([&] { KroneckerAttention(init, 8, 2, true, 0, options, {}, masks); });
  };
  EXPECT_EQ(kronecker(0, {}), "KroneckerAttention: heads = 0 must divide the width 8");
  EXPECT_EQ(kronecker(2, {2}), "KroneckerAttention: attend_modes must be from 0 to 1, got 2");
  EXPECT_EQ(kronecker(2, {}, {"causal"}),
            "KroneckerAttention: mode_masks must be empty or one for each of the 2 modes, got 1");
  const auto rotated = [&](const std::vector<int64_t>& modes, double base = 10000) {
    TokenAttention attention(init, 8, 2, {.rotary_modes = modes, .rotary_base = base});
    return said([&] { attention.forward(x, {}); });
  };
  EXPECT_EQ(rotated({-1}), "rotary_angles: modes must be from 0 to 1, got -1");
  EXPECT_EQ(rotated({7}), "rotary_angles: modes must be from 0 to 1, got 7");
  EXPECT_EQ(rotated({0, 0}), "rotary_angles: modes must not repeat a mode, got [0, 0]");
  EXPECT_EQ(rotated({0}, 0), "rotary_angles: base must be positive and finite, got 0");
  EXPECT_EQ(rotated({0}, -2), "rotary_angles: base must be positive and finite, got -2");
  EXPECT_EQ(said([] { ops::rotary_angles({3}, {}, 0, 10, at::kCPU); }),
            "rotary_angles: heads need at least 2 channels, got 0");
  EXPECT_EQ(ops::rotary_angles({3}, {}, 4, 10, at::kCPU).abs().sum().item<double>(), 0);
  EXPECT_EQ(said([&] { DividedAttention(init, 8, 2, 1, {}).forward(x, {}); }),
            "DividedAttention: x must have 3 axes (batch, modes, channels), got [1, 3, 4, 8]");
  EXPECT_EQ(said([&] { DividedAttention(init, 8, 2, 2, {.rotary_modes = {-1}}); }),
            "DividedAttention: rotary_modes must be from 0 to 1, got -1");
}

TEST(Patches, RefuseSizesThatDoNotFit) {
  const at::Tensor x = at::randn({1, 5, 5, 2});
  const auto cut = [&](const std::vector<int64_t>& patch) { return said([&] { cut_grid(x, patch); }); };
  EXPECT_EQ(cut({0, 2}), "patches: expected a size of at least 1 for each of 2 modes, got [0, 2]");
  EXPECT_EQ(cut({2, -1}), "patches: expected a size of at least 1 for each of 2 modes, got [2, -1]");
  EXPECT_EQ(cut({2}), "patches: expected a size of at least 1 for each of 2 modes, got [2]");
  EXPECT_EQ(said([] {
              grid_patch_counts({4, 4}, {0, 2});
            }),
            "patches: expected a size of at least 1 for each of 2 modes, got [0, 2]");
  for (const int64_t size : {0, -1, 3})
    EXPECT_EQ(
        said([&] {
          join_patches(at::zeros({1, 2, 2, 4}), size);
        }),
        "join_patches: x must be [B, n_1, n_2, size·size·C] with a size of at least 1, got [1, 2, 2, 4] "
        "and size " +
            std::to_string(size));
  EXPECT_EQ(said([] { patch_count(96, 16, 0); }),
            "patches: length and stride must be at least 1, got 16 and 0");
  EXPECT_EQ(said([] { patch_padding(96, -1, 8); }),
            "patches: length and stride must be at least 1, got -1 and 8");
  Initializer init(1);
  for (const int64_t patch : {0, 1, 6})
    EXPECT_EQ(said([&] { GridStem(init, 2, 1, patch, 8); }),
              "GridStem: patch must be a power of 2, at least 2, got " + std::to_string(patch));
}

TEST(Positions, RefuseModesThatAreNotThere) {
  Initializer init(1);
  EXPECT_EQ(said([] { sin_cos_positions({}, 4); }),
            "sin_cos_positions: expected the size of at least one mode, got none");
  EXPECT_EQ(said([&] {
              ModeEmbedding(init, {3, 5}, {-1}, 8, 1);
            }),
            "position encoding: modes must be from 0 to 1, got -1");
  EXPECT_EQ(said([] {
              SinCosEncoding({3, 5}, {2}, 8);
            }),
            "position encoding: modes must be from 0 to 1, got 2");
}

TEST(NamedOptions, RefuseUnknownNames) {
  EXPECT_EQ(said([] { patch_activation("foo"); }),
            "PatchEmbedding: activation must be linear, relu or relu_norm, got 'foo'");
  EXPECT_EQ(said([] { time_pooling("foo"); }),
            "TimeHead: pooling must be flatten, mean or attention, got 'foo'");
}

TEST(TimeHead, IsPooledByName) {
  EXPECT_EQ(time_pooling("flatten"), TimePooling::flatten);
  EXPECT_EQ(time_pooling("attention"), TimePooling::attention);
  EXPECT_EQ(time_pooling("mean"), TimePooling::mean);
  Initializer init(1);
  TimeHead head(init, TimePooling::attention, 3, 8, 2, 5, 0);
  std::set<std::string> names;
  for (const auto& p : head.named_parameters()) names.insert(p.key());
  EXPECT_TRUE(names.contains("score.weight"));
  EXPECT_FALSE(names.contains("score.bias"));
  head.eval();
  const at::Tensor tokens = at::randn({2, 3, 8}), none = at::zeros({2, 3}, at::kBool);
  EXPECT_TRUE(head.forward(tokens, none).isfinite().all().item<bool>());
  head.to(at::kDouble);
  EXPECT_EQ(head.forward(tokens.to(at::kDouble), {}).scalar_type(), at::kDouble);
}

}  // namespace
}  // namespace modewise::nn
