// Captioners: incremental decoding equals teacher forcing, the decoder is causal, every weight has a
// gradient, and cross-attention maps are distributions over cells.

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "tests/largest_difference.h"
#include "tests/models/captioning/small_captioner.h"

namespace modewise::models {
namespace {

at::Tensor rows(const std::vector<int64_t>& numbers) {
  return at::tensor(numbers, at::kLong);
}

TEST(Captioner, SaysWordByWordWhatItSaysAtOnce) {
  const at::NoGradGuard no_grad;
  for (const CaptionModelConfig& config : all_decoders()) {
    const auto captioner = small_captioner(config);
    const at::Tensor cells = captioner->encode(some_images()), tokens = some_captions(6);
    const at::Tensor whole = captioner->logits(cells, tokens);
    ASSERT_EQ(whole.sizes().vec(), (std::vector<int64_t>{6, 7, 11}));
    CaptionState state = captioner->begin(cells);
    state.reorder(rows({0, 0, 0, 1, 1, 1}));
    for (int64_t place = 0; place < 7; ++place)
      EXPECT_LT(largest_difference(captioner->step(state, tokens.select(1, place)), whole.select(1, place)),
                1e-12)
          << title_of(config) << ", place " << place;
  }
}

TEST(Captioner, GoesOnFromTheCaptionsThatAReorderNames) {
  const at::NoGradGuard no_grad;
  for (const CaptionModelConfig& config : all_decoders()) {
    const auto captioner = small_captioner(config);
    const at::Tensor cells = captioner->encode(some_images()), tokens = some_captions(4);
    CaptionState state = captioner->begin(cells);
    state.reorder(rows({0, 0, 1, 1}));
    for (int64_t place = 0; place < 3; ++place) captioner->step(state, tokens.select(1, place));
    const at::Tensor order = rows({1, 0, 1, 3, 3, 2}), later = some_captions(6);
    state.reorder(order);
    const at::Tensor joined = tokens.index_select(0, order).clone();
    joined.narrow(1, 3, 4).copy_(later.narrow(1, 3, 4));
    const at::Tensor whole = captioner->logits(cells, joined);
    for (int64_t place = 3; place < 7; ++place)
      EXPECT_LT(largest_difference(captioner->step(state, joined.select(1, place)), whole.select(1, place)),
                1e-12)
          << title_of(config) << ", place " << place;
  }
}

TEST(Captioner, SeesNoLaterWord) {
  const at::NoGradGuard no_grad;
  for (const CaptionModelConfig& config : all_decoders()) {
    const auto captioner = small_captioner(config);
    const at::Tensor cells = captioner->encode(some_images()), tokens = some_captions(2);
    const at::Tensor before = captioner->logits(cells, tokens);
    for (int64_t place = 1; place < 7; ++place) {
      at::Tensor changed = tokens.clone();
      // A different word in every row.
      changed.select(1, place).copy_((changed.select(1, place) - 3).remainder(7) + 4);
      const at::Tensor after = captioner->logits(cells, changed);
      EXPECT_TRUE(at::equal(after.narrow(1, 0, place), before.narrow(1, 0, place))) << title_of(config);
      EXPECT_GT(largest_difference(after.select(1, place), before.select(1, place)), 1e-6)
          << title_of(config);
    }
  }
}

TEST(Captioner, TakesCaptionsOfAImageTogether) {
  const at::NoGradGuard no_grad;
  for (const char* name : {"transformer", "lstm"}) {
    const auto captioner = small_captioner(small_config(name));
    const at::Tensor cells = captioner->encode(some_images()), tokens = some_captions(6, 5);
    const at::Tensor together = captioner->logits(cells, tokens);
    for (int64_t row = 0; row < 6; ++row)
      EXPECT_LT(largest_difference(captioner->logits(cells.narrow(0, row / 3, 1), tokens.narrow(0, row, 1)),
                                   together.narrow(0, row, 1)),
                1e-12)
          << name;
  }
}

TEST(Captioner, TellsImagesApart) {
  const at::NoGradGuard no_grad;
  for (const CaptionModelConfig& config : all_decoders()) {
    const auto captioner = small_captioner(config);
    const at::Tensor cells = captioner->encode(some_images()),
                     tokens = some_captions(1).expand({2, -1}).contiguous();
    const at::Tensor logits = captioner->logits(cells, tokens);
    EXPECT_GT(largest_difference(logits[0], logits[1]), 1e-4) << title_of(config);
  }
}

// A key bias adds a constant to all logits of a row, to which softmax is invariant.
TEST(Captioner, HasAGradientForEveryWeight) {
  std::vector<CaptionModelConfig> configs = all_decoders();
  for (const std::string& name : ops::attention_names(ops::TokenLayout::grid)) {
    configs.push_back(small_config());
    configs.back().encoder.attention = name;
  }
  for (const CaptionModelConfig& config : configs) {
    const auto captioner = small_captioner(config);
    captioner->train();
    const at::Tensor cells = captioner->encode(some_images(3));
    // Every word occurs as a target once, so that each has a gradient.
    at::Tensor tokens = at::arange(21, at::kLong).remainder(11).view({3, 7});
    const at::Tensor logits = captioner->logits(cells, tokens);
    (logits * at::randn(logits.sizes(), at::kDouble)).sum().backward();
    for (const auto& p : captioner->named_parameters()) {
      ASSERT_TRUE(p.value().grad().defined())
          << title_of(config) << ", " << config.encoder.attention << ": " << p.key();
      if (p.key().ends_with("key_proj.bias") || p.key().ends_with("k_norm.bias")) continue;
      EXPECT_GT(p.value().grad().abs().max().item<double>(), 1e-12)
          << title_of(config) << ", " << config.encoder.attention << ": " << p.key();
    }
  }
}

TEST(Captioner, LooksAtCellsByWeightsThatSumToOne) {
  const at::NoGradGuard no_grad;
  for (const CaptionModelConfig& config : all_decoders()) {
    const auto captioner = small_captioner(config);
    const at::Tensor cells = captioner->encode(some_images()), tokens = some_captions(4);
    const at::Tensor looked = captioner->looked(cells, tokens);
    if (config.decoder.cross_attention == "linformer") {
      EXPECT_FALSE(looked.defined()) << title_of(config);
      continue;
    }
    ASSERT_EQ(looked.sizes().vec(), (std::vector<int64_t>{4, 7, 5, 3})) << title_of(config);
    const at::Tensor sums = looked.flatten(2).sum(-1);
    EXPECT_LT(largest_difference(sums, at::ones_like(sums)), 1e-12) << title_of(config);
    EXPECT_GE(looked.min().item<double>(), 0) << title_of(config);
  }
}

TEST(Captioner, ReadsFeaturesInPlaceOfImages) {
  const at::NoGradGuard no_grad;
  const CaptionShape shape{.height = 3, .width = 2, .vocabulary = 11, .features = 5};
  for (const char* name : {"transformer", "lstm"}) {
    const auto captioner = small_captioner(small_config(name), shape);
    for (const auto& p : captioner->named_parameters())
      EXPECT_EQ(p.key().find("convolutions"), std::string::npos) << p.key();
    const at::Tensor cells = captioner->encode(at::randn({2, 3, 2, 5}, at::kDouble));
    EXPECT_EQ(cells.sizes().vec(), (std::vector<int64_t>{2, 3, 2, 10}));
    EXPECT_EQ(captioner->logits(cells, some_captions(2)).sizes().vec(), (std::vector<int64_t>{2, 7, 11}));
  }
}

TEST(Captioner, BeginsWithWeightsOfItsSeed) {
  for (const char* name : {"transformer", "lstm"}) {
    const auto a = make_captioner(small_config(name), small_shape(), 3),
               b = make_captioner(small_config(name), small_shape(), 3),
               other = make_captioner(small_config(name), small_shape(), 4);
    for (const auto& p : a->named_parameters())
      EXPECT_TRUE(at::equal(p.value(), b->named_parameters()[p.key()])) << p.key();
    EXPECT_FALSE(at::equal(a->named_parameters()["head.weight"], other->named_parameters()["head.weight"]));
  }
  const auto transformer = make_captioner(small_config(), small_shape(), 3),
             lstm = make_captioner(small_config("lstm"), small_shape(), 3);
  for (const auto& p : transformer->named_parameters())
    if (p.key().starts_with("encoder.")) {
      EXPECT_TRUE(at::equal(p.value(), lstm->named_parameters()[p.key()])) << p.key();
    }
}

}  // namespace
}  // namespace modewise::models
