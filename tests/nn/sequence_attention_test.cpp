// Sequence attention of every type: padding, attention matrices, explicit formulas, densities of sparse
// masks.

#include "modewise/nn/attention/sequence_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "modewise/nn/layers/dropout.h"
#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/attention/kronecker_attention.h"
#include "modewise/ops/attention/random_features.h"

namespace modewise::nn {
namespace {

SequenceAttentionOptions options_of(std::string_view type) {
  SequenceAttentionOptions out = {.width = 12, .heads = 2, .tokens = 17, .type = std::string(type)};
  const ops::AttentionType& known = *ops::find_attention_type(type);
  if (known.fold) out.fold = {type == "pooled" ? 3 : 0, 3, 2};
  if (known.latents) out.summary_tokens = 3;
  out.density = 0.3;
  out.own["landmarks"] = 4, out.own["kernel"] = 3;
  out.own["chunk"] = 3, out.own["rounds"] = 3;
  return out;
}

std::shared_ptr<Attention> made(const SequenceAttentionOptions& options) {
  Initializer init(3);
  auto attention = make_sequence_attention(init, options);
  attention->to(at::kDouble);
  attention->eval();
  return attention;
}
std::shared_ptr<Attention> made(std::string_view type) {
  return made(options_of(type));
}

at::Tensor noise(at::IntArrayRef sizes) {
  return at::randn(sizes, at::kDouble) * 2;
}

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

/// [B, n, D] -> [B, H, n, d] by the projection of that name.
at::Tensor mapped(const Attention& attention, const std::string& name, const at::Tensor& x) {
  const auto parameters = attention.named_parameters();
  return (at::matmul(x, parameters[name + ".weight"].t()) + parameters[name + ".bias"])
      .unflatten(-1, {2, 6})
      .transpose(1, 2);
}

at::Tensor out_of(const Attention& attention, const at::Tensor& heads) {
  const auto parameters = attention.named_parameters();
  return at::matmul(heads.transpose(1, 2).flatten(-2), parameters["out_proj.weight"].t()) +
         parameters["out_proj.bias"];
}

class EverySequenceAttention : public testing::TestWithParam<std::string_view> {};

TEST_P(EverySequenceAttention, AttendsAPaddedSequenceAsTheSequenceAlone) {
  const at::NoGradGuard no_grad;
  const auto attention = made(GetParam());
  const at::Tensor x = noise({2, 17, 12});
  const at::Tensor mask = at::arange(17).lt(11).unsqueeze(0).expand({2, 17});
  const at::Tensor padded = attention->forward(x, mask).narrow(1, 0, 11);
  EXPECT_LT(largest(padded - attention->forward(x.narrow(1, 0, 11), {})), 1e-10);
  at::Tensor other = x.clone();
  other.narrow(1, 11, 6).fill_(std::nan(""));
  EXPECT_TRUE(attention->forward(other, mask).narrow(1, 0, 11).equal(padded));
}

TEST_P(EverySequenceAttention, DoesNotMixSamples) {
  const at::NoGradGuard no_grad;
  const auto attention = made(GetParam());
  const at::Tensor x = noise({3, 17, 12});
  at::Tensor mask = at::ones({3, 17}, at::kBool);
  mask[1].narrow(0, 5, 12).fill_(false);
  mask[2].narrow(0, 3, 4).fill_(false);  // a hole
  const at::Tensor together = attention->forward(x, mask);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_LT(largest(attention->forward(x.narrow(0, i, 1), mask.narrow(0, i, 1)) - together.narrow(0, i, 1)),
              1e-12);
}

TEST_P(EverySequenceAttention, IsItsMatrixTimesTheValues) {
  const at::NoGradGuard no_grad;
  const auto attention = made(GetParam());
  const at::Tensor x = noise({2, 17, 12});
  at::Tensor mask = at::ones({2, 17}, at::kBool);
  mask[1].narrow(0, 11, 6).fill_(false);
  const at::Tensor matrix = attention->full_matrix(x, mask);
  ASSERT_EQ(matrix.sizes(), (std::vector<int64_t>{2, 2, 17, 17}));
  EXPECT_EQ(largest(matrix[1].slice(1, 0, 11).slice(2, 11, 17)), 0);
  const at::Tensor out = out_of(*attention, at::matmul(matrix, mapped(*attention, "value_proj", x)));
  EXPECT_LT(largest((out - attention->forward(x, mask))[0]), 1e-10);
  EXPECT_LT(largest((out - attention->forward(x, mask))[1].narrow(0, 0, 11)), 1e-10);
  if (GetParam() == "linformer" || GetParam() == "nystroemformer") return;
  EXPECT_LT(largest(matrix[0].sum(-1) - 1), 1e-10);
}

TEST_P(EverySequenceAttention, HasAGradientForEveryParameter) {
  SequenceAttentionOptions options = options_of(GetParam());
  options.dropout = ops::find_attention_type(GetParam())->dropout ? 0.3 : 0;
  Initializer init(3);
  const auto attention = make_sequence_attention(init, options);
  set_dropout_step(*attention, 1, 2);
  const at::Tensor mask = at::arange(17).lt(11).unsqueeze(0).expand({2, 17});
  attention->forward(noise({2, 17, 12}).to(at::kFloat), mask).narrow(1, 0, 11).square().sum().backward();
  for (const auto& item : attention->named_parameters())
    EXPECT_TRUE(item.value().grad().defined() && at::isfinite(item.value().grad()).all().item<bool>())
        << item.key();
}

TEST_P(EverySequenceAttention, DropsWeightsInTrainingAlone) {
  const at::NoGradGuard no_grad;
  SequenceAttentionOptions options = options_of(GetParam());
  options.dropout = 0.5;
  const auto attention = made(options);
  const at::Tensor x = noise({1, 17, 12});
  set_dropout_step(*attention, 1, 2);
  const at::Tensor whole = attention->forward(x, {});
  attention->train();
  const at::Tensor dropped = attention->forward(x, {});
  EXPECT_TRUE(attention->forward(x, {}).equal(dropped));
  EXPECT_EQ(dropped.equal(whole), !ops::find_attention_type(GetParam())->dropout);
}

TEST_P(EverySequenceAttention, HasNoBiasesWhereNoneAreAskedFor) {
  SequenceAttentionOptions options = options_of(GetParam());
  options.bias = false;
  for (const auto& item : made(options)->named_parameters())
    EXPECT_THAT(item.key(), testing::Not(testing::HasSubstr("bias")));
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> out;
  for (const SequenceConstructor& one : sequence_constructors()) out.push_back(one.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Forms, EverySequenceAttention, testing::ValuesIn(names()),
                         [](const auto& one) { return std::string(one.param); });

/// The tokens, out of n, that token t may attend to, for each type with a density.
TEST(SequenceAttention, SparseMasksKeepTheShareTheyPromise) {
  const at::NoGradGuard no_grad;
  for (const char* type : {"window", "random", "topk"})
    for (const int64_t n : {7, 31, 64, 200}) {
      SequenceAttentionOptions options = {.width = 12, .heads = 2, .tokens = n, .type = type};
      const auto attention = made(options);
      const at::Tensor mask = at::arange(n).ne(2).unsqueeze(0);
      for (const bool padded : {false, true}) {
        const at::Tensor matrix =
            attention->full_matrix(noise({1, n, 12}), padded ? std::optional(mask) : std::nullopt);
        const int64_t seen = padded ? n - 1 : n;
        // A padding token has no logits of its own.
        const at::Tensor rows = (padded ? mask : at::ones_like(mask)).unsqueeze(1).expand({1, 2, n});
        const at::Tensor counts = matrix.gt(0).sum(-1).masked_select(rows);
        EXPECT_EQ(counts.min().item<int64_t>(),
                  static_cast<int64_t>(std::ceil(0.1 * static_cast<double>(seen))))
            << type << n;
        EXPECT_EQ(counts.max().item<int64_t>(), counts.min().item<int64_t>()) << type << n;
      }
      if (std::string_view(type) == "topk") continue;
      const at::Tensor own = attention->full_matrix(noise({1, n, 12}), {}).diagonal(0, -2, -1);
      EXPECT_GT(own.min().item<double>(), 0) << type;
    }
}

TEST(SequenceAttention, WindowsLieAroundTheirTokens) {
  const at::NoGradGuard no_grad;
  SequenceAttentionOptions options = {.width = 12, .heads = 2, .type = "window", .window = 3};
  const at::Tensor seen = made(options)->full_matrix(noise({1, 6, 12}), {})[0][0].gt(0).to(at::kLong);
  const at::Tensor wanted = at::tensor({1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0,
                                        0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1},
                                       at::kLong);
  EXPECT_TRUE(seen.equal(wanted.view({6, 6})));
}

TEST(SequenceAttention, BlocksOfTheLastModeAreApart) {
  const at::NoGradGuard no_grad;
  SequenceAttentionOptions options = {.width = 12, .heads = 2, .type = "axial"};
  options.fold = {0, 4}, options.modes = 1;
  const auto attention = made(options);
  const at::Tensor x = noise({1, 10, 12});
  const at::Tensor matrix = attention->full_matrix(x, {});
  const at::Tensor block = at::arange(10).floor_divide(4);
  EXPECT_TRUE(matrix[0][1].gt(0).equal(block.unsqueeze(1).eq(block)));
  options.type = "full";
  const at::Tensor alone = made(options)->forward(x.narrow(1, 4, 4), {});
  EXPECT_LT(largest(attention->forward(x, {}).narrow(1, 4, 4) - alone), 1e-12);
}

TEST(SequenceAttention, LinformerIsItsFormula) {
  const at::NoGradGuard no_grad;
  SequenceAttentionOptions options = options_of("linformer");
  options.own["projected"] = 5;
  const auto attention = made(options);
  const at::Tensor x = noise({2, 13, 12});
  const auto parameters = attention->named_parameters();
  const at::Tensor keys =
      at::matmul(parameters["key_map"].narrow(1, 0, 13), mapped(*attention, "key_proj", x));
  const at::Tensor values =
      at::matmul(parameters["value_map"].narrow(1, 0, 13), mapped(*attention, "value_proj", x));
  const at::Tensor logits =
      at::matmul(mapped(*attention, "query_proj", x), keys.transpose(-1, -2)) / std::sqrt(6.0);
  EXPECT_LT(largest(attention->forward(x, {}) - out_of(*attention, at::matmul(logits.softmax(-1), values))),
            1e-12);
}

/// Random features as in Performer's code, with their factor and |x|²/2 for queries too, without their
/// epsilon.
TEST(SequenceAttention, PerformerIsItsFormula) {
  const at::NoGradGuard no_grad;
  SequenceAttentionOptions options = options_of("performer");
  options.own["features"] = 10;
  Initializer init(3);
  const auto attention = make_sequence_attention(init, options);
  attention->to(at::kDouble);
  const at::Tensor x = noise({2, 13, 12}) / 4;
  const at::Tensor projection =
      ops::orthogonal_projection(x, 6, ops::linear_feature_count(6, 10), Initializer(3).dropout_site(), 0);
  const auto features = [&](const at::Tensor& t) {
    const at::Tensor scaled = t / std::pow(6.0, 0.25);
    return at::exp(at::matmul(scaled, projection.t()) - scaled.square().sum(-1, true) / 2) /
           std::sqrt(static_cast<double>(projection.size(0)));
  };
  const at::Tensor queries = features(mapped(*attention, "query_proj", x)),
                   keys = features(mapped(*attention, "key_proj", x));
  const at::Tensor weights = at::matmul(queries, keys.transpose(-1, -2));
  const at::Tensor mixed = at::matmul(weights / weights.sum(-1, true), mapped(*attention, "value_proj", x));
  EXPECT_LT(largest(attention->forward(x, {}) - out_of(*attention, mixed)), 1e-12);
}

TEST(SequenceAttention, ComputesTheseSharesOfTheWeights) {
  SequenceAttentionOptions options = {.width = 16, .heads = 2, .tokens = 256, .type = "axial"};
  options.fold = {0, 16};
  EXPECT_DOUBLE_EQ(weight_share(options, 256), 0.125);
  options.modes = 1;
  EXPECT_DOUBLE_EQ(weight_share(options, 256), 0.0625);
  options.fold = {4, 8, 8}, options.modes = 0;
  EXPECT_DOUBLE_EQ(weight_share(options, 256), 20.0 / 256);
  options.type = "linformer", options.own["projected"] = 32;
  EXPECT_DOUBLE_EQ(weight_share(options, 256), 0.125);
  options.type = "nystroemformer", options.own["landmarks"] = 16;
  EXPECT_DOUBLE_EQ(weight_share(options, 256), 16.0 * (512 + 16) / 65536);
  options.type = "reformer", options.own["chunk"] = 16, options.own["rounds"] = 2;
  EXPECT_DOUBLE_EQ(weight_share(options, 256), 2.0 * 32 / 256);
  options.tokens = 100;  // ⌈100 / 16⌉ = 7 pairs of buckets
  EXPECT_DOUBLE_EQ(sequence_constructor("reformer").beside(options, 64),
                   2.0 * 7 * 64 * static_cast<double>(options.width));
  options.type = "full";
  EXPECT_DOUBLE_EQ(weight_share(options, 256), 1);
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::ValueError& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

TEST(SequenceAttention, SaysWhatDoesNotFit) {
  EXPECT_EQ(refusal([] { made(SequenceAttentionOptions{.width = 12, .type = "tree"}); }),
            "unknown sequence attention 'tree'");
  EXPECT_EQ(refusal([] { made(SequenceAttentionOptions{.width = 12, .heads = 5}); }),
            "attention 'full': heads = 5 must divide the width 12");
  EXPECT_EQ(refusal([] { made(SequenceAttentionOptions{.width = 12, .type = "linformer"}); }),
            "linformer projects over the tokens of the longest sequence: its length (options.tokens) must be "
            "given");
  EXPECT_EQ(refusal([] {
              made("linformer")->forward(noise({1, 18, 12}), {});
            }),
            "linformer built for 17 tokens takes at most as many, got 18");
  const at::Tensor x = noise({2, 5, 12});
  EXPECT_EQ(refusal([&] { made("full")->forward(x[0], {}); }),
            "sequence attention expects x [B, n, D], got [5, 12]");
  EXPECT_EQ(refusal([&] {
              made("full")->forward(x, at::ones({2, 4}, at::kBool));
            }),
            "sequence attention expects a bool mask [2, 5], got Bool [2, 4]");
  EXPECT_EQ(refusal([&] {
              made("full")->forward(x, at::ones({2, 5}));
            }),
            "sequence attention expects a bool mask [2, 5], got Float [2, 5]");
}

}  // namespace
}  // namespace modewise::nn
