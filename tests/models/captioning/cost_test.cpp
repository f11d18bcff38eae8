// Cost of captioners by formula, against the built models.

#include "modewise/models/captioning/cost.h"

#include <gtest/gtest.h>

#include "modewise/nn/attention/grid_attention.h"

namespace modewise::models {
namespace {

CaptionModelConfig small_config(const std::string& name = "transformer") {
  CaptionModelConfig config;
  config.name = name;
  config.max_words = 7;
  config.encoder.widths = {4, 6};
  config.encoder.heads = 2;
  if (name == "transformer") config.decoder.heads = 2;
  config.decoder.width = 8;
  return config;
}

int64_t parameters_of(const CaptionModelConfig& config, const CaptionShape& shape) {
  int64_t count = 0;
  for (const at::Tensor& one : make_captioner(config, shape, 1)->parameters()) count += one.numel();
  return count;
}

TEST(CaptionCost, HasTheParametersOfTheModel) {
  const CaptionShape images{3, 17, 13, 31, 0}, features{3, 3, 5, 31, 9};
  for (const CaptionShape& shape : {images, features})
    for (const char* name : {"transformer", "lstm"}) {
      CaptionModelConfig config = small_config(name);
      EXPECT_EQ(caption_cost(config, shape).parameters(), parameters_of(config, shape)) << name;
      config.encoder.attention = "none";
      config.decoder.layers = 3;
      EXPECT_EQ(caption_cost(config, shape).parameters(), parameters_of(config, shape)) << name;
    }
  for (const char* type : {"dense", "random", "factorized-random"}) {
    CaptionModelConfig config = small_config();
    config.encoder.attention = config.decoder.attention = config.decoder.cross_attention = type;
    EXPECT_EQ(caption_cost(config, images).parameters(), parameters_of(config, images)) << type;
  }
}

TEST(CaptionCost, CountsTheMultiplyAddsOfASmallModelByHand) {
  CaptionModelConfig config = small_config();
  config.encoder.attention = "none";
  config.decoder.layers = 1;
  config.decoder.feed_forward = 2;
  const nn::ModelCost cost = caption_cost(config, {3, 17, 13, 31, 0});
  // 17 × 13 pixels become 9 × 7, then 5 × 4 cells; kernels of 3 × 3.
  EXPECT_EQ(cost.multiply_adds_of({"convolutions"}), 63 * 27 * 4 + 20 * 36 * 6);
  EXPECT_EQ(cost.multiply_adds_of({"embedding"}), 20 * 6 * 8);
  // Value and output projections: self-attention of 7 words, cross-attention of 7 words to 20 cells.
  EXPECT_EQ(cost.multiply_adds_of({"value and output"}), (7 + 7 + 20 + 7) * 64);
  EXPECT_EQ(cost.multiply_adds_of({"scores and mixing"}),
            (7 + 7) * 64 + 2 * 7 * 7 * 8 + (7 + 20) * 64 + 2 * 7 * 20 * 8);
  EXPECT_EQ(cost.multiply_adds_of({"feed-forward"}), 2 * 7 * 8 * 16);
  EXPECT_EQ(cost.multiply_adds_of({"head"}), 7 * 8 * 31);
}

}  // namespace
}  // namespace modewise::models
