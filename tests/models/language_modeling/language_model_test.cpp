// Language models against transformers (vectors/language.json), and for consistency: incremental decoding
// with caches, recomputed activations, chunked losses.

#include "modewise/models/language_modeling/language_model.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "modewise/nn/layers/dropout.h"
#include "modewise/ops/training/language_loss.h"
#include "tests/error_of.h"
#include "tests/models/language_modeling/language_vectors.h"

namespace modewise::models {
namespace {

TEST(LanguageModel, LogitsAreThoseOfTransformers) {
  const auto vectors = language_vectors("language.json");
  for (const auto& test : vectors["cases"]) {
    const LanguageModelConfig config = parse_language_json(test["config"].dump(), test["name"]);
    const auto model = make_language_model(config, 1);
    set_formula_weights(*model);
    const at::Tensor tokens = token_tensor(test["tokens"].get<std::vector<int64_t>>());
    const at::Tensor wanted = at::tensor(test["logits"].get<std::vector<double>>(), at::kDouble)
                                  .view({1, vectors["tokens"].get<int64_t>(), config.vocabulary});
    EXPECT_LE(largest_difference(model->forward(tokens), wanted), 2e-5) << test["name"];
    model->to(at::kDouble);
    // transformers computes rotary angles in float32 even in a float64 model.
    EXPECT_LE(largest_difference(model->forward(tokens), wanted), 5e-6) << test["name"];
  }
}

LanguageModelConfig small_config(const std::string& type) {
  LanguageModelConfig c;
  c.vocabulary = 31;
  c.width = 24;
  c.hidden = 32;
  c.layers = 3;
  c.heads = 4;
  c.kv_heads = 2;
  c.context = 64;
  c.attention.type = type;
  if (type == "summary" || type == "axial") c.attention.fold = {0, 3, 5};
  if (type == "summary") c.attention.summary_tokens = 2;
  if (type == "window" || type == "lambda") c.attention.window = 7;
  if (type == "lambda") c.attention.sinks = 2;
  return c;
}

class EveryForm : public testing::TestWithParam<const char*> {};

TEST_P(EveryForm, StepsThroughTheCacheEqualTheWholeText) {
  const auto model = make_language_model(small_config(GetParam()), 3);
  set_formula_weights(*model);
  model->eval();
  const at::NoGradGuard no_grad;
  const at::Tensor tokens = at::arange(67, at::kLong).mul(11).remainder(31).view({1, 67});
  const at::Tensor whole = model->forward(tokens);
  auto caches = model->new_cache();
  int64_t place = 0;
  for (const int64_t count : {1, 1, 17, 1, 2, 31, 1, 1, 12}) {
    place += count;
    const at::Tensor logits = model->step(tokens.narrow(1, place - count, count), caches);
    EXPECT_LE(largest_difference(logits, whole.select(1, place - 1)), 1e-5) << place;
  }
  EXPECT_EQ(caches[0].length(), 67);
}

TEST_P(EveryForm, NoTokenSeesTheFuture) {
  const auto model = make_language_model(small_config(GetParam()), 3);
  set_formula_weights(*model);
  const at::Tensor tokens = at::arange(40, at::kLong).mul(11).remainder(31).view({1, 40});
  at::Tensor other = tokens.clone();
  other.narrow(1, 23, 17).add_(5).remainder_(31);
  const at::Tensor a = model->forward(tokens), b = model->forward(other);
  EXPECT_EQ(largest_difference(a.narrow(1, 0, 23), b.narrow(1, 0, 23)), 0);
  EXPECT_GT(largest_difference(a.narrow(1, 23, 17), b.narrow(1, 23, 17)), 1e-3);
}

TEST_P(EveryForm, HasTheAttentionOfItsLayersAlone) {
  const auto model = make_language_model(small_config(GetParam()), 3);
  const at::Tensor tokens = at::arange(5, at::kLong).view({1, 5});
  const int64_t layers = model->config().layers;
  for (const int64_t layer : {int64_t{-1}, layers})
    EXPECT_EQ(error_of(ErrorKind::internal, [&] { model->attention_matrix(tokens, layer); }),
              "layer must be from 0 to " + std::to_string(layers - 1) + ", got " + std::to_string(layer));
}

std::vector<at::Tensor> loss_and_gradients(LanguageModel& model, const at::Tensor& tokens) {
  model.zero_grad();
  nn::set_dropout_step(model, 5, 7);
  const at::Tensor loss = ops::language_loss(model.hidden(tokens.narrow(1, 0, tokens.size(1) - 1)),
                                             model.head_weight(), tokens.narrow(1, 1, tokens.size(1) - 1));
  loss.backward();
  std::vector<at::Tensor> out = {loss.detach()};
  for (auto& item : model.named_parameters()) {
    EXPECT_TRUE(item.value().grad().defined()) << item.key();
    out.push_back(item.value().grad().clone());
  }
  return out;
}

TEST_P(EveryForm, RecomputedActivationsAndThreadsChangeNoBit) {
  const at::Tensor tokens = at::arange(130, at::kLong).mul(7).remainder(31).view({2, 65});
  for (const char* precision : {"float32", "bf16"})
    for (const double dropout : {0.0, 0.2}) {
      LanguageModelConfig config = small_config(GetParam());
      config.precision = precision;
      config.dropout = dropout;
      const auto kept = make_language_model(config, 3);
      config.recompute = true;
      const auto again = make_language_model(config, 3);
      at::set_num_threads(1);
      const auto first = loss_and_gradients(*kept, tokens);
      for (const int threads : {1, 3}) {
        at::set_num_threads(threads);
        const auto second = loss_and_gradients(*again, tokens);
        ASSERT_EQ(first.size(), second.size());
        for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(at::equal(first[i], second[i])) << i;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, EveryForm,
                         testing::Values("summary", "full", "window", "lambda", "axial", "random", "topk"),
                         [](const auto& param) { return std::string(param.param); });

double root_mean_square(const at::Tensor& x) {
  return x.to(at::kDouble).square().mean().sqrt().item<double>();
}

// Rounding to 8 significant bits adds an error of 2^-7 / m · uniform(−1/2, 1/2) to a significand m in [1, 2);
// with m log-uniform its root mean square is 2^-7 · sqrt(3 / (8 ln 2) / 12) of the value. The logits
// accumulate 15 roundings per layer (norm, weights and values of q|k|v, rotation, attention, weights and
// values of out, sum; norm, weights and values of gate|up, product, weights and values of down, sum) and
// those of the embedding, the last norm, and weights and values of the head. They are independent, so their
// squares add, and none counts more than if the whole signal passed through it.
TEST(LanguageModel, Bfloat16DiffersByTheRoundingOfActivationsAlone) {
  const double one = 0x1p-7 * std::sqrt(3 / (8 * std::log(2.0)) / 12), all = one * std::sqrt(15.0 * 3 + 4);
  const at::Tensor tokens = at::arange(64, at::kLong).mul(7).remainder(31).view({2, 32});
  for (const char* type : {"summary", "full"}) {
    LanguageModelConfig config = small_config(type);
    const auto exact = make_language_model(config, 3);
    config.precision = "bf16";
    const auto narrow = make_language_model(config, 3);
    exact->to(at::kDouble);
    const at::NoGradGuard no_grad;
    const at::Tensor wanted = exact->forward(tokens), rounded = narrow->forward(tokens);
    EXPECT_EQ(rounded.scalar_type(), at::kBFloat16);
    const double error = root_mean_square(rounded.to(at::kDouble) - wanted) / root_mean_square(wanted);
    EXPECT_LE(error, all) << type;
    EXPECT_GE(error, one) << type;  // the last rounding only
    // An error of 3 % in one matrix of one layer exceeds that.
    for (const char* name : {"self_attn.o_proj", "mlp.down_proj"}) {
      const at::Tensor weight = narrow->named_parameters()["model.layers.1." + std::string(name) + ".weight"];
      const at::Tensor before = weight.clone();
      weight.mul_(1.03);
      const at::Tensor other = narrow->forward(tokens);
      weight.copy_(before);
      EXPECT_GT(root_mean_square(other.to(at::kDouble) - wanted) / root_mean_square(wanted), all)
          << type << name;
    }
  }
}

TEST(LanguageModel, WeightsDependOnTheSeedAlone) {
  const auto a = make_language_model(small_config("summary"), 3),
             b = make_language_model(small_config("summary"), 3);
  const auto c = make_language_model(small_config("summary"), 4);
  const auto of = [](LanguageModel& m, const char* name) { return m.named_parameters()[name]; };
  for (const auto& item : a->named_parameters())
    EXPECT_TRUE(at::equal(item.value(), of(*b, item.key().c_str())));
  EXPECT_FALSE(at::equal(of(*a, "model.embed_tokens.weight"), of(*c, "model.embed_tokens.weight")));
  EXPECT_LT(of(*a, "model.layers.1.self_attn.latents").abs().max().item<double>(), 0.2);  // near mean pooling
  EXPECT_NEAR(of(*a, "model.layers.0.mlp.gate_proj.weight").std().item<double>(), 1 / std::sqrt(24.0), 0.02);
  EXPECT_NEAR(of(*a, "model.layers.0.mlp.down_proj.weight").std().item<double>(), 1 / std::sqrt(24.0 * 6.0),
              0.008);
  LanguageModelConfig given = small_config("summary");
  given.stddev = 0.02;
  EXPECT_NEAR(of(*make_language_model(given, 3), "model.layers.0.mlp.gate_proj.weight").std().item<double>(),
              0.02, 0.002);
}

TEST(LanguageModel, ParametersAreCountedByFormula) {
  for (const char* type : {"summary", "full", "axial"})
    for (const bool tied : {true, false}) {
      LanguageModelConfig config = small_config(type);
      config.tied = tied;
      int64_t count = 0;
      for (const at::Tensor& parameter : make_language_model(config, 1)->parameters())
        count += parameter.numel();
      EXPECT_EQ(count, config.parameters());
    }
}

TEST(LanguageLoss, EqualsCrossEntropyWithItsGradients) {
  for (const at::ScalarType type : {at::kDouble, at::kFloat})
    for (const int64_t chunk : {0, 1, 7, 64}) {
      at::Tensor hidden = formula_weight(1, {33, 12}).to(type).view({3, 11, 12}).requires_grad_(true);
      at::Tensor head = (formula_weight(2, {41, 12}) * 3).to(type).requires_grad_(true);
      at::Tensor targets = at::arange(33, at::kLong).mul(5).remainder(41).view({3, 11}).clone();
      targets[1].narrow(0, 2, 5).fill_(-100);
      const auto gradients = [&](const at::Tensor& loss) {
        hidden.mutable_grad() = at::Tensor();
        head.mutable_grad() = at::Tensor();
        (loss * 3).backward();
        return std::pair(hidden.grad().clone(), head.grad().clone());
      };
      const at::Tensor ours = ops::language_loss(hidden, head, targets, chunk);
      const auto [ours_hidden, ours_head] = gradients(ours);
      const at::Tensor wanted =
          at::cross_entropy_loss(hidden.view({33, 12}).matmul(head.t()), targets.view({33}));
      const auto [wanted_hidden, wanted_head] = gradients(wanted);
      const double tolerance = type == at::kDouble ? 1e-13 : 2e-6;
      EXPECT_LE(largest_difference(ours, wanted), tolerance);
      EXPECT_LE(largest_difference(ours_hidden, wanted_hidden), tolerance);
      EXPECT_LE(largest_difference(ours_head, wanted_head), tolerance);
      const at::Tensor each = ops::token_losses(hidden, head, targets, chunk);
      EXPECT_EQ(each.sizes(), targets.sizes());
      EXPECT_EQ(each[1][3].item<double>(), 0);
      EXPECT_NEAR(each.sum().item<double>() / 28, wanted.item<double>(), tolerance);
      const at::NoGradGuard no_grad;
      EXPECT_TRUE(at::equal(ops::language_loss(hidden, head, targets, chunk), ours.detach()));
    }
}

TEST(LanguageLoss, SurvivesLargeLogitsAndNothingToCount) {
  const at::Tensor hidden = at::tensor({100.0, -100.0}).view({1, 2}).to(at::kFloat).requires_grad_(true);
  const at::Tensor head = at::tensor({100.0, 0.0, 0.0, 100.0}).view({2, 2}).to(at::kFloat);
  EXPECT_EQ(ops::language_loss(hidden, head, token_tensor({0})[0]).item<float>(), 0);
  EXPECT_EQ(ops::language_loss(hidden, head, token_tensor({1})[0]).item<float>(), 20000);
  const at::Tensor nothing = ops::language_loss(hidden, head, token_tensor({-100})[0]);
  EXPECT_EQ(nothing.item<float>(), 0);
  nothing.backward();
  EXPECT_EQ(hidden.grad().abs().max().item<float>(), 0);
  EXPECT_EQ(exception_of<c10::IndexError>([&] { ops::language_loss(hidden, head, token_tensor({2})[0]); }),
            "language_loss: targets must be below the vocabulary size 2, got 2");
}

TEST(LanguageLoss, SameBitsForAnyNumberOfThreads) {
  const at::Tensor targets = at::arange(300, at::kLong).remainder(701);
  std::vector<at::Tensor> first;
  for (const int threads : {1, 2, 4}) {
    at::set_num_threads(threads);
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
      at::Tensor hidden = formula_weight(1, {300, 65}).to(type).requires_grad_(true);
      at::Tensor head = formula_weight(2, {701, 65}).to(at::kFloat).requires_grad_(true);
      const at::Tensor loss = ops::language_loss(hidden, head, targets);
      loss.backward();
      const std::vector<at::Tensor> now = {loss.detach(), hidden.grad(), head.grad()};
      if (threads == 1)
        first.insert(first.end(), now.begin(), now.end());
      else
        for (size_t i = 0; i < 3; ++i)
          EXPECT_TRUE(at::equal(now[i], first[i + (type == at::kFloat ? 0 : 3)])) << threads << " " << i;
    }
  }
}

// The last token of a text of `context` tokens is number context − 1: it attends to as many blocks as in
// training.
TEST(LanguageModelingConfig, OutermostBlocksAreKnownThatTheLastTokenOfTheContextSaw) {
  const auto known = [](int64_t context, std::vector<int64_t> fold) {
    LanguageModelConfig config = small_config("summary");
    config.context = context;
    config.attention.fold = std::move(fold);
    return config.resolved().attention_options().fold[0];
  };
  EXPECT_EQ(known(512, {0, 16, 16}), 1);
  EXPECT_EQ(known(513, {0, 16, 16}), 2);
  EXPECT_EQ(known(1024, {0, 16, 16}), 3);
  EXPECT_EQ(known(64, {0, 8}), 7);
  EXPECT_EQ(known(65, {0, 8}), 8);
  EXPECT_EQ(known(16, {0, 16, 16}), 1);  // none in training: the first block is used as it is
  EXPECT_EQ(known(512, {5, 16, 16}), 5);
}

TEST(LanguageModelingConfig, WhatDoesNotFitTogetherIsNamed) {
  const auto message = [](auto change) {
    LanguageModelConfig config = small_config("summary");
    change(config);
    return error_of(ErrorKind::config, [&] { make_language_model(config, 1); });
  };
  using C = LanguageModelConfig;
  using testing::HasSubstr;
  EXPECT_THAT(message([](C& c) { c.kv_heads = 3; }), HasSubstr("kv_heads = 3 must divide heads = 4"));
  EXPECT_THAT(message([](C& c) {
                c.heads = 5;
                c.kv_heads = 0;
              }),
              HasSubstr("multiple of heads = 5"));
  EXPECT_THAT(message([](C& c) { c.head_width = 5; }), HasSubstr("even head width, got 5"));
  EXPECT_THAT(message([](C& c) { c.attention.type = "pooled"; }),
              HasSubstr("is not causal: its weights depend on later tokens"));
  EXPECT_THAT(message([](C& c) { c.attention.type = "full"; }), HasSubstr("attention.fold has no effect"));
  EXPECT_THAT(message([](C& c) { c.attention.fold = {4, 0, 2}; }), HasSubstr("contains 0 at position 2"));
  EXPECT_THAT(message([](C& c) {
                c.attention.fold = {1 << 30, 1 << 30, 1 << 30};
              }),
              HasSubstr("exceeds 62 bits"));
  EXPECT_THAT(message([](C& c) { c.attention.window = 4; }), HasSubstr("smaller than the last size"));
  EXPECT_THAT(message([](C& c) {
                c.attention = LanguageAttentionConfig();
                c.attention.type = "window";
              }),
              HasSubstr("needs attention.window"));
  EXPECT_THAT(message([](C& c) { c.attention.sinks = 4; }), HasSubstr("attention.sinks has no effect"));
  EXPECT_THAT(message([](C& c) { c.rope.scaling.kind = "yarn"; }), HasSubstr("needs rope.original_length"));
  EXPECT_THAT(message([](C& c) { c.rope.scaled_level = 3; }),
              HasSubstr("the attention has 3 levels of positions"));
  EXPECT_THAT(message([](C& c) {
                c.rope.scaling.kind = "linear";
                c.rope.scaling.factor = 0.5;
              }),
              HasSubstr("rope.factor must be at least 1"));
}

/// YaRN frequencies as in transformers, for a length that is not too short for its ramp.
std::vector<double> yarn(double base, int64_t width, double length, double factor) {
  const auto d = static_cast<double>(width);
  const auto border = [&](double rotations) {
    return d * std::log(length / (rotations * 2 * std::numbers::pi)) / (2 * std::log(base));
  };
  const double low = std::max(std::floor(border(32)), 0.0), high = std::min(std::ceil(border(1)), d - 1);
  std::vector<double> out;
  for (int64_t i = 0; i < width / 2; ++i) {
    const double keep = 1 - std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    const double plain = 1 / std::pow(base, 2 * static_cast<double>(i) / d);
    out.push_back(plain / factor * (1 - keep) + plain * keep);
  }
  return out;
}

LanguageModelConfig stretched_config(const std::string& type, std::vector<int64_t> fold) {
  LanguageModelConfig c;
  c.width = 64;
  c.heads = 4;
  c.context = 8192;
  c.attention.type = type;
  c.attention.fold = std::move(fold);
  c.rope.scaling = {.base = 500, .kind = "yarn", .factor = 3, .original_length = 8192};
  return c.resolved();
}

void expect_row(const LanguageModelConfig& config, int64_t level, const std::vector<double>& wanted,
                double gain) {
  const ops::RotaryEmbedding code = config.rotary_embedding();
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(code.frequencies[level][static_cast<int64_t>(i)].item<double>(), wanted[i], 1e-15)
        << level << " " << i;
  EXPECT_DOUBLE_EQ(code.gains[static_cast<size_t>(level)], gain) << level;
}

const std::vector<double> kPlain = yarn(500, 16, 8192, 1);

// 8,192 tokens are 512 blocks of 16, in 16 blocks of 32: three times the length has 48 of these.
TEST(LanguageModel, YarnCountsThePositionsOfEachLevel) {
  const double gain = 0.1 * std::log(3.0) + 1;
  const LanguageModelConfig causal = stretched_config("summary", {0, 32, 16});
  expect_row(causal, 0, yarn(500, 16, 8192, 3), gain);
  expect_row(causal, 1, kPlain, 1);
  expect_row(causal, 2, yarn(500, 16, 16, 3), gain);
  const LanguageModelConfig axial = stretched_config("axial", {0, 32, 16});
  expect_row(axial, 0, kPlain, 1);
  expect_row(axial, 1, kPlain, 1);
  expect_row(axial, 2, yarn(500, 16, 16, 3), gain);
  // The longer text fills a last mode of 9,000 cells, which has more positions than trained.
  expect_row(stretched_config("axial", {0, 9000}), 0, yarn(500, 16, 8192, 9000.0 / 8192),
             0.1 * std::log(9000.0 / 8192) + 1);
  // Outermost blocks of `summary` continue beyond a first mode of 16, those of `axial` do not.
  expect_row(stretched_config("summary", {16, 32, 16}), 2, yarn(500, 16, 16, 3), gain);
  expect_row(stretched_config("axial", {16, 32, 16}), 2, kPlain, 1);
}

TEST(LanguageModel, AChosenLevelIsStretchedByTheFactor) {
  LanguageModelConfig config = stretched_config("summary", {0, 32, 16});
  config.rope.scaled_level = 1;
  expect_row(config, 0, kPlain, 1);
  expect_row(config, 1, yarn(500, 16, 32, 3), 0.1 * std::log(3.0) + 1);
  expect_row(config, 2, kPlain, 1);
}

TEST(LanguageModel, LengthsInTokensAreThoseOfEarlierVersions) {
  LanguageModelConfig config = stretched_config("summary", {0, 32, 16});
  config.rope.level_lengths = false;
  for (int64_t level = 0; level < 3; ++level)
    expect_row(config, level, yarn(500, 16, 8192, 3), 0.1 * std::log(3.0) + 1);
}

}  // namespace
}  // namespace modewise::models
