// Every type of the attention registry against its formula with explicit matrices in float64, at odd sizes.

#include <ATen/TensorOperators.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/kron.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "modewise/nn/attention/grid_attention.h"
#include "modewise/nn/attention/synthesizer_attention.h"
#include "modewise/ops/attention/attention_types.h"
#include "tests/largest_difference.h"

namespace modewise::nn {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr int64_t kHeight = 3, kWidth = 5, kChannels = 14, kHeads = 2, kTokens = kHeight * kWidth;

SynthesizerShape grid() {
  return {{kHeight, kWidth}, 0, kChannels, kHeads};
}

struct Parts {
  explicit Parts(const std::shared_ptr<Attention>& attention) : module(attention) {
    for (const auto& p : attention->named_parameters()) all[p.key()] = p.value();
    for (const auto& b : attention->named_buffers()) all[b.key()] = b.value();
  }
  at::Tensor operator()(const std::string& name) const { return all.at(name); }
  /// The parameter, or the Kronecker product of its factors, for one head.
  at::Tensor matrix(const std::string& name, int64_t head) const {
    at::Tensor out;
    for (int i = 0; all.contains(name + ".factor" + std::to_string(i)); ++i) {
      const at::Tensor factor = (*this)(name + ".factor" + std::to_string(i))[head];
      out = out.defined() ? at::kron(out, factor) : factor;
    }
    return out;
  }
  /// Z = X ×_1 A_1 ×_2 A_2 ×_3 A_3 as N × N, for one head: [B, N, N].
  at::Tensor tensor_logits(const std::string& name, const at::Tensor& x, int64_t head) const {
    return at::einsum("bhwc,ih,jw,kc->bijk", {x, matrix(name + ".height", head),
                                              matrix(name + ".width", head), matrix(name + ".channel", head)})
        .reshape({x.size(0), kTokens, kTokens});
  }

  std::shared_ptr<Attention> module;
  std::map<std::string, at::Tensor> all;
};

using Weights = std::function<at::Tensor(const Parts&, const at::Tensor& x, int64_t head)>;

/// Output for x of attention with weights [B, N, N] per head, without mask.
at::Tensor by_formula(const Parts& parts, const at::Tensor& x, const Weights& weights) {
  const at::Tensor v = at::linear(x, parts("value_proj.weight"), parts("value_proj.bias")).flatten(1, 2);
  std::vector<at::Tensor> heads;
  for (int64_t h = 0; h < kHeads; ++h)
    heads.push_back(at::matmul(weights(parts, x, h), v.unflatten(-1, {kHeads, -1}).select(2, h)));
  const at::Tensor mixed = at::stack(heads, 2).flatten(-2);
  return at::linear(mixed, parts("out_proj.weight"), parts("out_proj.bias")).view(x.sizes());
}

at::Tensor tensor_form(const Parts& parts, const at::Tensor& x, int64_t head) {
  return at::softmax(parts.tensor_logits("logits", x, head), -1);
}

at::Tensor head_of(const Parts& parts, const std::string& name, const at::Tensor& x, int64_t head) {
  return at::linear(x, parts(name + ".weight"), parts(name + ".bias"))
      .flatten(1, 2)
      .unflatten(-1, {kHeads, -1})
      .select(2, head);
}

at::Tensor dense_form(const Parts& parts, const at::Tensor& x, int64_t head) {
  const at::Tensor hidden = at::relu(head_of(parts, "logits.hidden", x, head));
  return at::softmax(at::linear(hidden, parts("logits.columns").select(1, head),
                                parts("logits.columns_bias").select(1, head).squeeze(-1)),
                     -1);
}

at::Tensor factorized(const Parts& parts, const at::Tensor& x, int64_t head) {
  return at::softmax(parts.matrix("logits.factors", head), -1).unsqueeze(0).expand({x.size(0), -1, -1});
}

struct Form {
  std::string name;
  Weights weights;
};

std::vector<Form> forms() {
  return {
      {"dense", dense_form},
      {"tensor", tensor_form},
      {"tensor-height", tensor_form},
      {"tensor-width", tensor_form},
      {"factorized-dense", tensor_form},
      {"additive",
       [](const Parts& parts, const at::Tensor& x, int64_t head) {
         at::Tensor sum;
         for (const std::string name : {"logits0", "logits1", "logits2"}) {
           const at::Tensor one = at::softmax(parts.tensor_logits(name, x, head), -1);
           sum = sum.defined() ? sum + one : one;
         }
         return sum;
       }},
      {"random",
       [](const Parts& parts, const at::Tensor& x, int64_t head) {
         return at::softmax(parts("logits.logits")[head], -1).unsqueeze(0).expand({x.size(0), -1, -1});
       }},
      {"random-fixed",
       [](const Parts& parts, const at::Tensor& x, int64_t head) {
         return at::softmax(parts("logits.logits")[head], -1).unsqueeze(0).expand({x.size(0), -1, -1});
       }},
      {"factorized-random", factorized},
      {"product-random",
       [](const Parts& parts, const at::Tensor& x, int64_t head) {
         const at::Tensor a = at::softmax(parts("factor0")[head], -1),
                          b = at::softmax(parts("factor1")[head], -1);
         return at::kron(a, b).unsqueeze(0).expand({x.size(0), -1, -1});
       }},
      {"mixture",
       [](const Parts& parts, const at::Tensor& x, int64_t head) {
         const at::Tensor theta = at::softmax(parts("logits.theta"), 0);
         return at::softmax(theta[0] * parts.tensor_logits("logits.source0", x, head) +
                                theta[1] * parts.matrix("logits.source1.factors", head),
                            -1);
       }},
      {"mixture-printed",
       [](const Parts& parts, const at::Tensor& x, int64_t head) {
         const at::Tensor theta = at::softmax(parts("theta"), 0);
         return at::softmax(theta[0] * at::softmax(parts.tensor_logits("inner", x, head), -1) +
                                theta[1] * parts.matrix("random.factors", head),
                            -1);
       }},
      {"dot-product",
       [](const Parts& parts, const at::Tensor& x, int64_t head) {
         const at::Tensor q = head_of(parts, "query_proj", x, head), k = head_of(parts, "key_proj", x, head);
         return at::softmax(
             at::matmul(q, k.transpose(1, 2)) / std::sqrt(static_cast<double>(kChannels / kHeads)), -1);
       }},
  };
}

std::shared_ptr<Attention> make(const std::string& name, const SynthesizerShape& shape = grid(),
                                const AttentionTypeOptions& options = {}) {
  Initializer init(5);
  auto out = make_attention(init, name, shape, options);
  out->to(at::kDouble);
  // Move θ and biases away from 0, where many errors would be invisible.
  for (const auto& p : out->named_parameters())
    if (p.value().abs().max().item<double>() == 0) p.value().set_data(at::randn_like(p.value()));
  return out;
}

class AttentionEntries : public testing::TestWithParam<Form> {};

TEST_P(AttentionEntries, AreTheirFormulas) {
  const auto attention = make(GetParam().name);
  const at::Tensor x = at::randn({2, kHeight, kWidth, kChannels}, at::kDouble);
  const Parts parts(attention);
  EXPECT_LT(largest_difference(attention->forward(x, {}), by_formula(parts, x, GetParam().weights)), 1e-12);
  const at::Tensor matrix = attention->full_matrix(x, {});
  for (int64_t h = 0; h < kHeads; ++h)
    EXPECT_LT(largest_difference(matrix.select(1, h), GetParam().weights(parts, x, h)), 1e-12);
}

TEST_P(AttentionEntries, GiveMaskedTokensNoWeightAndTheRestWhatIsLeft) {
  const auto attention = make(GetParam().name);
  const at::Tensor x = at::randn({2, kHeight, kWidth, kChannels}, at::kDouble);
  const at::Tensor mask = at::rand({2, kHeight, kWidth}).gt(0.3);
  const Parts parts(attention);
  if (GetParam().name.starts_with("additive") || GetParam().name == "mixture-printed")
    return;  // not a single softmax
  const Weights masked = [&](const Parts& p, const at::Tensor& input, int64_t head) {
    const at::Tensor valid = mask.unsqueeze(-1).to(at::kDouble);
    const at::Tensor kept = GetParam().weights(p, input * valid, head) * valid.flatten(1).unsqueeze(1);
    return kept / kept.sum(-1, true);
  };
  EXPECT_LT(largest_difference(attention->forward(x, mask).index({mask}),
                               by_formula(parts, x, masked).index({mask})),
            1e-12);
}

TEST_P(AttentionEntries, IgnoreTheValuesUnderAMask) {
  const auto attention = make(GetParam().name);
  const at::Tensor x = at::randn({2, kHeight, kWidth, kChannels}, at::kDouble);
  const at::Tensor mask = at::rand({2, kHeight, kWidth}).gt(0.3);
  const at::Tensor other = x.masked_fill(mask.logical_not().unsqueeze(-1), 1e3);
  const auto valid = [&](const at::Tensor& tokens) { return attention->forward(tokens, mask).index({mask}); };
  EXPECT_TRUE(at::equal(valid(other), valid(x)));
  const auto rows = [&](const at::Tensor& tokens) {
    return attention->full_matrix(tokens, mask).transpose(1, 2).index({mask.flatten(1)});
  };
  EXPECT_TRUE(at::equal(rows(other), rows(x)));
}

TEST_P(AttentionEntries, HaveTheGradientsOfTheirFormula) {
  const auto attention = make(GetParam().name);
  at::Tensor x = at::randn({2, kHeight, kWidth, kChannels}, at::kDouble).requires_grad_();
  const Parts parts(attention);
  std::vector<at::Tensor> inputs = {x};
  for (const auto& p : attention->named_parameters()) inputs.push_back(p.value());
  const at::Tensor weight = at::randn(x.sizes(), at::kDouble);
  const auto gradients = [&](const at::Tensor& out) {
    for (at::Tensor& input : inputs) input.mutable_grad() = at::Tensor();
    (out * weight).sum().backward();
    std::vector<at::Tensor> all;
    for (const at::Tensor& input : inputs) all.push_back(input.grad().clone());
    return all;
  };
  const auto ours = gradients(attention->forward(x, {}));
  const auto wanted = gradients(by_formula(parts, x, GetParam().weights));
  for (size_t i = 0; i < inputs.size(); ++i) EXPECT_LT(largest_difference(ours[i], wanted[i]), 1e-10) << i;
}

INSTANTIATE_TEST_SUITE_P(Table1, AttentionEntries, testing::ValuesIn(forms()), [](const auto& one) {
  std::string name = one.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// Copies the tensors of a type's logits from the mixture that has it as that source, and the other ones.
void copy_source(const Attention& mixed, size_t source, Attention& alone) {
  const std::string own = "logits.", its = fmt::format("logits.source{}.", source);
  const auto copy = [&](const auto& from, const auto& to) {
    for (const auto& one : to) {
      const std::string name = one.key().starts_with(own) ? its + one.key().substr(own.size()) : one.key();
      one.value().set_data(from[name].detach().clone());
    }
  };
  copy(mixed.named_parameters(), alone.named_parameters());
  copy(mixed.named_buffers(), alone.named_buffers());
}

TEST(Mixture, WithAllWeightOnOneTypeIsThatType) {
  for (const std::vector<std::string>& types :
       std::vector<std::vector<std::string>>{{"dense", "random"},
                                             {"tensor-height", "factorized-random"},
                                             {"factorized-dense", "tensor-width", "dense"},
                                             {"random-fixed", "stt"}})
    for (size_t i = 0; i < types.size(); ++i) {
      SCOPED_TRACE(types[i]);
      AttentionTypeOptions options;
      options.mixture = types;
      const auto mixed = make("mixture", grid(), options), alone = make(types[i]);
      const at::Tensor theta = mixed->named_parameters()["logits.theta"];
      ASSERT_EQ(theta.numel(), std::ssize(types));
      theta.detach().fill_(-100).select(0, static_cast<int64_t>(i)).fill_(100);
      copy_source(*mixed, i, *alone);
      const at::Tensor x = at::randn({2, kHeight, kWidth, kChannels}, at::kDouble);
      EXPECT_LT(largest_difference(mixed->forward(x, {}), alone->forward(x, {})), 1e-12);
      theta.detach().fill_(0);
      EXPECT_GT(largest_difference(mixed->forward(x, {}), alone->forward(x, {})), 1e-3);
    }
}

// Softmaxes of the factors underflow where the largest logits of a row lie under the mask; the softmax of
// their Kronecker sum over the valid tokens does not.
TEST(FactorProduct, KeepsTheWeightsOfValidTokensThatAreTiny) {
  const auto attention = make("product-random");
  Parts parts(attention);
  std::vector<at::Tensor> factors = {parts("factor0"), parts("factor1")};
  for (at::Tensor& factor : factors) {
    factor.set_data(at::randn_like(factor));
    factor.detach().select(-1, 0).fill_(900);
  }
  at::Tensor folded = at::ones({3, 5, 3}, at::kBool);  // the factors have 5 and 3 rows
  folded[0].select(0, 0).fill_(false);
  folded[0].select(1, 0).fill_(false);
  folded[2].fill_(false);
  const at::Tensor mask = folded.view({3, kHeight, kWidth});
  const at::Tensor x = at::randn({3, kHeight, kWidth, kChannels}, at::kDouble);
  const at::Tensor kept = mask.flatten(1).unsqueeze(1);
  const Weights weights = [&](const Parts& p, const at::Tensor&, int64_t head) {
    const at::Tensor a = p("factor0")[head], b = p("factor1")[head];
    const at::Tensor sum = at::kron(a, at::ones_like(b)) + at::kron(at::ones_like(a), b);
    return at::softmax(sum.unsqueeze(0).masked_fill(kept.logical_not(), -1e9), -1) * kept;
  };
  const at::Tensor by_head = at::stack({weights(parts, x, 0), weights(parts, x, 1)}, 1);
  EXPECT_LT(largest_difference(attention->full_matrix(x, mask), by_head), 1e-12);
  const auto gradients = [&](const at::Tensor& out) {
    for (at::Tensor& factor : factors) factor.mutable_grad() = at::Tensor();
    out.index({mask}).pow(2).sum().backward();
    return std::pair(factors[0].grad().clone(), factors[1].grad().clone());
  };
  const at::Tensor ours = attention->forward(x, mask), wanted = by_formula(parts, x, weights);
  EXPECT_LT(largest_difference(ours.index({mask}), wanted.index({mask})), 1e-12);
  const auto own = gradients(ours), formula = gradients(wanted);
  EXPECT_LT(largest_difference(own.first, formula.first), 1e-10);
  EXPECT_LT(largest_difference(own.second, formula.second), 1e-10);
}

constexpr ops::TokenLayout kGrid = ops::TokenLayout::grid;

TEST(AttentionRegistry, HasEveryRowOfTheTableByItsCode) {
  for (const char* code : {"CT", "CL", "SD", "STT", "SR", "STTH", "STTW", "FSD", "FSR", "MS"})
    EXPECT_NE(ops::find_attention_type(code, kGrid), nullptr) << code;
  EXPECT_EQ(ops::find_attention_type("stth", kGrid)->name, "tensor-height");
  EXPECT_EQ(ops::find_attention_type("mixture", kGrid), ops::find_attention_type("ms", kGrid));
  EXPECT_EQ(ops::find_attention_type("", kGrid), nullptr);  // types without a code are not found by it
  EXPECT_EQ(ops::find_attention_type("tensor ", kGrid), nullptr);
}

// Published parameter counts: at 8 × 8 × 64 and one head, without value and output projections.
TEST(AttentionRegistry, LearnsAsManyNumbersAsThePaperCounts) {
  const auto count = [](const std::string& name) {
    Initializer init(1);
    const auto attention = make_attention(init, name, {{8, 8}, 0, 64, 1});
    int64_t sum = 0;
    for (const auto& p : attention->named_parameters())
      if (!p.key().starts_with("value_proj") && !p.key().starts_with("out_proj")) sum += p.value().numel();
    return sum;
  };
  EXPECT_EQ(count("CT"), 2 * (64 * 64 + 64));  // with biases
  EXPECT_EQ(count("SD"), 8320);
  EXPECT_EQ(count("STT"), 1088);
  EXPECT_EQ(count("STTH"), 8 + 64 * (8 + 64));
  EXPECT_EQ(count("STTW"), 8 + 64 * (8 + 64));
  EXPECT_EQ(count("SR"), 4096);
  EXPECT_EQ(count("FSD"), 112);
  EXPECT_EQ(count("FSR"), 128);
  EXPECT_EQ(count("MS"), 1088 + 128 + 2);
  EXPECT_EQ(count("random-fixed"), 0);
}

TEST(AttentionRegistry, LinformerProjectsKeysAndValuesOfTheKeptTokens) {
  const auto attention = make("CL", grid(), {.projected = 4});
  const Parts parts(attention);
  const at::Tensor x = at::randn({2, kHeight, kWidth, kChannels}, at::kDouble);
  const at::Tensor kept = at::rand({2, kTokens, 1}).gt(0.3).to(at::kDouble);
  ASSERT_EQ(parts("key_map").sizes().vec(), (std::vector<int64_t>{4, kTokens}));
  std::vector<at::Tensor> heads;
  for (int64_t h = 0; h < kHeads; ++h) {
    const at::Tensor k = at::matmul(parts("key_map"), head_of(parts, "key_proj", x, h) * kept);
    const at::Tensor v = at::matmul(parts("value_map"), head_of(parts, "value_proj", x, h) * kept);
    const at::Tensor logits = at::matmul(head_of(parts, "query_proj", x, h), k.transpose(1, 2));
    heads.push_back(at::matmul(at::softmax(logits / std::sqrt(7.0), -1), v));
  }
  const at::Tensor wanted =
      at::linear(at::stack(heads, 2).flatten(-2), parts("out_proj.weight"), parts("out_proj.bias"))
          .view(x.sizes());
  EXPECT_LT(largest_difference(attention->forward(x, kept.view({2, kHeight, kWidth}).to(at::kBool)), wanted),
            1e-12);
}

// Causality: a later token does not affect an earlier output; incremental decoding equals the full pass.
TEST(AttentionRegistry, CausalFormsSeeNoLaterToken) {
  for (const ops::AttentionType& type : ops::attention_types(kGrid)) {
    if (!type.causal) continue;
    const auto attention = make(std::string(type.name), {{kTokens}, 0, kChannels, kHeads}, {.causal = true});
    const at::Tensor x = at::randn({2, kTokens, kChannels}, at::kDouble), whole = attention->forward(x, {});
    for (const int64_t n : {int64_t{1}, int64_t{2}, int64_t{7}, kTokens - 1})
      EXPECT_LT(largest_difference(attention->forward(x.narrow(1, 0, n), {}), whole.narrow(1, 0, n)), 1e-13)
          << type.name;
    at::Tensor changed = x.clone();
    changed.select(1, 7).fill_(9);
    EXPECT_GT(largest_difference(attention->forward(changed, {}).narrow(1, 7, 8), whole.narrow(1, 7, 8)),
              1e-3)
        << type.name;
  }
}

TEST(AttentionRegistry, RectangularFormsTakeAMemory) {
  for (const ops::AttentionType& type : ops::attention_types(kGrid)) {
    if (!type.cross_attention) continue;
    const auto attention = make(std::string(type.name), {{7}, 15, kChannels, kHeads});
    const at::Tensor x = at::randn({2, 7, kChannels}, at::kDouble),
                     cells = at::randn({2, 3, 5, kChannels}, at::kDouble);
    const at::Tensor kept = at::rand({2, 3, 5}).gt(0.4), before = attention->attend(x, {cells, kept});
    ASSERT_EQ(before.sizes(), x.sizes()) << type.name;
    at::Tensor hidden = cells.masked_fill(kept.logical_not().unsqueeze(-1), 9);
    EXPECT_LT(largest_difference(attention->attend(x, {hidden, kept}), before), 1e-13) << type.name;
    EXPECT_GT(largest_difference(attention->attend(x, {cells + 1, kept}), before), 1e-3) << type.name;
    // Fewer tokens than the synthesizer was built for.
    EXPECT_LT(largest_difference(attention->attend(x.narrow(1, 0, 3), {cells, kept}), before.narrow(1, 0, 3)),
              1e-13)
        << type.name;
  }
}

TEST(AttentionRegistry, SaysWhatAFormCannotDo) {
  Initializer init(1);
  const auto refusal = [&](const std::string& name, const SynthesizerShape& shape,
                           const AttentionTypeOptions& options) {
    return [&init, name, shape, options] { make_attention(init, name, shape, options); };
  };
  for (const ops::AttentionType& type : ops::attention_types(kGrid)) {
    if (!type.causal) {
      EXPECT_THAT(refusal(std::string(type.name), grid(), {.causal = true}),
                  ThrowsMessage<c10::Error>(HasSubstr("cannot be causal")));
    }
    if (!type.cross_attention) {
      EXPECT_THAT(refusal(std::string(type.name), {{3, 5}, 7, kChannels, kHeads}, {}),
                  ThrowsMessage<c10::Error>(HasSubstr("as many keys as tokens")));
    }
  }
  EXPECT_THAT(refusal("stx", grid(), {}), ThrowsMessage<c10::Error>(HasSubstr("unknown attention 'stx'")));
  EXPECT_THAT(refusal("stt", {{3, 5}, 0, 15, 2}, {}),
              ThrowsMessage<c10::Error>(HasSubstr("heads = 2 must divide the width 15")));
  EXPECT_THAT(refusal("fsr", grid(), {.shapes = {{3, 5}, {5, 5}}}),
              ThrowsMessage<c10::Error>(HasSubstr("Kronecker factors of 15 rows and 15 columns")));
  const at::Tensor other = at::randn({1, 5, 3, kChannels}, at::kDouble);
  for (const char* name : {"stt", "sr", "sd", "fsr", "ms", "product-random"})
    EXPECT_THAT([&] { make(name)->forward(other, {}); },
                ThrowsMessage<c10::Error>(HasSubstr("built for tokens [3, 5] takes only these, got [5, 3]")))
        << name;
  EXPECT_THAT(
      [&] {
        make("sr", {{7}, 0, kChannels, kHeads})->forward(at::randn({1, 8, kChannels}, at::kDouble), {});
      },
      ThrowsMessage<c10::Error>(HasSubstr("built for tokens [7] takes at most as many, got [8]")));
}

TEST(KroneckerFactors, AreAsEqualAsTheirDivisorsAllow) {
  const auto rows = [](int64_t n, int64_t count) { return balanced_factors(n, n, count).rows; };
  EXPECT_EQ(rows(64, 2), (std::vector<int64_t>{8, 8}));
  EXPECT_EQ(rows(12, 2), (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(rows(60, 3), (std::vector<int64_t>{5, 4, 3}));
  EXPECT_EQ(rows(17, 2), (std::vector<int64_t>{17, 1}));
  EXPECT_EQ(rows(1, 2), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(balanced_factors(64, 8, 2).columns, (std::vector<int64_t>{4, 2}));
}

TEST(KroneckerFactors, OfAnyShapesAreOneMatrix) {
  // Figure 7 of the paper: 6 × 8 = 1×2 ⊗ 2×2 ⊗ 3×1 ⊗ 1×2.
  const auto attention = make("fsr", {{6}, 8, kChannels, 1}, {.shapes = {{1, 2, 3, 1}, {2, 2, 1, 2}}});
  const Parts parts(attention);
  const at::Tensor x = at::randn({1, 6, kChannels}, at::kDouble),
                   cells = at::randn({1, 8, kChannels}, at::kDouble);
  const at::Tensor v = at::linear(cells, parts("value_proj.weight"), parts("value_proj.bias"));
  const at::Tensor mixed = at::matmul(at::softmax(parts.matrix("logits.factors", 0), -1), v);
  EXPECT_LT(largest_difference(attention->attend(x, {cells, {}}),
                               at::linear(mixed, parts("out_proj.weight"), parts("out_proj.bias"))),
            1e-12);
}

}  // namespace
}  // namespace modewise::nn
