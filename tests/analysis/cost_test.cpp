#include "modewise/analysis/cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "modewise/analysis/attention_type_cost.h"
#include "modewise/analysis/measured_cost.h"
#include "modewise/models/token_encoder.h"

namespace modewise::analysis {
namespace {

/// The volume model of the paper's Table 2: 28³ voxels, patches of 4, 6 blocks of width 128.
VisionModel paper_model(const std::string& mechanism) {
  VisionModel model;
  model.mechanism = mechanism;
  model.encoder.width = 128;
  model.encoder.hidden = 512;
  model.encoder.blocks = 6;
  model.encoder.heads = 8;
  return model;
}

/// Billions with two decimals, as the paper prints them.
double billions(double count) {
  return std::round(count / 1e7) / 100;
}

double linear_maps(const VisionModel& model, const ModelCost& cost) {
  return cost.multiply_adds_of({"query and key", "value and output", "feed-forward"}) -
         343.0 * static_cast<double>(model.encoder.hidden * model.encoder.blocks);
}

// The full count gives 0.68, 0.72 and 0.72 for the paper's 0.67, 0.72 and 0.71 G. The paper's figures follow
// from the linear layers plus full attention only: an interpretation found by search, see docs/analysis.md.
TEST(GridCost, OfLinearMapsAndAllTokenAttentionHasThePrintedFigures) {
  const VisionModel product = paper_model("hot"), full = paper_model("transformer"),
                    divided = paper_model("divided");
  const ModelCost released = grid_cost(product, Projection::full);
  EXPECT_EQ(billions(linear_maps(product, released)), 0.67);
  EXPECT_EQ(billions(released.multiply_adds()), 0.68);
  EXPECT_EQ(billions(linear_maps(divided, grid_cost(divided))), 0.71);
  EXPECT_EQ(billions(grid_cost(divided).multiply_adds()), 0.72);
  const ModelCost all = grid_cost(full);
  EXPECT_EQ(billions(all.multiply_adds()), 0.72);
  EXPECT_EQ(billions(linear_maps(full, all) + all.multiply_adds_of({"scores and mixing"})), 0.72);
  // "2M" and "1.5M"
  EXPECT_NEAR(static_cast<double>(released.parameters()), 1.98e6, 1e4);
  EXPECT_NEAR(static_cast<double>(all.parameters()), 1.58e6, 1e4);
  EXPECT_LT(grid_cost(product).multiply_adds(), 0.75 * released.multiply_adds());
}

TEST(GridCost, OfLayersAddsUp) {
  const ModelCost cost = grid_cost(paper_model("hot"));
  ASSERT_EQ(cost.layers.size(), 8u);  // embedding, 6 blocks, head
  int64_t parameters = 0;
  double multiply_adds = 0, bytes = 0;
  for (const LayerCost& layer : cost.layers) {
    parameters += layer.parameters();
    multiply_adds += layer.multiply_adds();
    bytes += layer.activation_bytes;
  }
  EXPECT_EQ(parameters, cost.parameters());
  EXPECT_NEAR(multiply_adds, cost.multiply_adds(), 1);
  EXPECT_NEAR(bytes, cost.activation_bytes, 1);
  EXPECT_EQ(cost.layers[1].name, "block 1");
}

TEST(GridCost, GrowsWithTokensAsTheFormsPromise) {
  VisionModel model = paper_model("hot");
  const auto growth = [&](double& small, double& large) {
    model.size = {112, 112, 112};
    small = grid_cost(model).multiply_adds();
    model.size = {224, 224, 224};
    large = grid_cost(model).multiply_adds();
    return large / small;
  };
  double small, large;
  model.encoder.attention.kernel = "linear";
  EXPECT_LT(growth(small, large), 8.01);
  model.mechanism = "transformer";
  model.encoder.attention.kernel = "softmax";
  EXPECT_GT(growth(small, large), 40);
}

class EncoderParameters : public testing::TestWithParam<std::tuple<std::string, std::vector<std::string>>> {};

TEST_P(EncoderParameters, EqualTheBuiltEncoder) {
  const auto& [mechanism, settings] = GetParam();
  models::EncoderConfig config;
  config.width = 24;
  Fields fields;
  config.block_fields(fields);
  fields.group("position", config.position);
  fields.group("attention", config.attention);
  for (const std::string& setting : settings) fields.set(setting);
  const models::TokenShape tokens{{3, 5, 4}, {0, 2}};
  nn::Initializer init(1);
  const models::TokenEncoder encoder(config, mechanism, tokens, 0, init);
  int64_t built = 0;
  for (const auto& parameter : encoder.parameters()) built += parameter.numel();
  CostAccount account;
  add_codes(account, config, tokens);
  add_blocks(account, config, mechanism, tokens, Projection::pooled);
  EXPECT_EQ(std::move(account).cost(tokens.sizes).parameters(), built);
}

std::vector<std::vector<std::string>> attention_settings() {
  std::vector<std::vector<std::string>> all;
  for (const nn::AttentionEntry& type : nn::attention_entries())
    all.push_back({"attention.type=" + std::string(type.name), "position.rotary=none"});
  return all;
}

INSTANTIATE_TEST_SUITE_P(AttentionRegistry, EncoderParameters,
                         testing::Combine(testing::Values("transformer"),
                                          testing::ValuesIn(attention_settings())));

// Multiply-adds of one layer at N = 3 × 5 tokens, width 8 and 2 heads, by hand.
TEST(AttentionTypeCost, CountsProducts) {
  const auto multiply_adds = [](const std::string& type, const nn::AttentionTypeOptions& options = {}) {
    CostAccount account;
    add_attention(account, type, {{3, 5}, 0, 8, 2}, options);
    return std::move(account).cost({}).multiply_adds() - 2 * 15 * 8 * 8;  // value and output
  };
  const double mixing = 15 * 15 * 8;
  EXPECT_EQ(multiply_adds("random"), mixing);
  EXPECT_EQ(multiply_adds("ct"), 2 * 15 * 8 * 8 + 2 * mixing);
  nn::AttentionTypeOptions projected;
  projected.projected = 4;
  EXPECT_EQ(multiply_adds("linformer", projected), 2 * 15 * 8 * 8 + 2 * 4 * 15 * 8 + 2 * 15 * 4 * 8);
  EXPECT_EQ(multiply_adds("dense"), 15 * 8 * 8 + 15 * 15 * (8 + 2) + mixing);
  const double tensor = 2 * (15 * 8 + 15 * 3 * 5 + 15 * 15 * 5);  // [15 × 3][3 × 5][5 × 15] per head
  EXPECT_EQ(multiply_adds("tensor"), tensor + mixing);
  const double height = 2 * (15 * 8 + 15 * 5 * 8 + 15 * 15 * 8),
               width = 2 * (15 * 8 + 15 * 3 * 8 + 15 * 15 * 8);
  EXPECT_EQ(multiply_adds("tensor-height"), height + mixing);
  EXPECT_EQ(multiply_adds("tensor-width"), width + mixing);
  EXPECT_EQ(multiply_adds("additive"), tensor + height + width + 3 * mixing);
  EXPECT_EQ(multiply_adds("factorized-random"), 2 * 15 * 15 + mixing);
  EXPECT_EQ(multiply_adds("product-random"), 15 * (5 + 3) * 8);
  EXPECT_EQ(multiply_adds("kronecker"), 2 * (3 + 5) * 8 * 8 + (9 + 25) * 8 + (3 + 5) * 15 * 8);
  EXPECT_EQ(multiply_adds("mixture"), tensor + 2 * 15 * 15 + mixing);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, EncoderParameters,
    testing::Combine(testing::Values("hot", "transformer", "spatial", "temporal", "divided", "pooling"),
                     testing::Values(std::vector<std::string>{},
                                     std::vector<std::string>{"feed_forward=none"},
                                     std::vector<std::string>{"attention.kernel=none", "feed_forward=gelu"},
                                     std::vector<std::string>{"position.encoding=learned", "layer_scale=0.1"},
                                     std::vector<std::string>{"attention.query_key_norm=false",
                                                              "position.mode_embeddings=false"})));

TEST(MeasuredCost, TakesTimeAndMemory) {
  models::EncoderConfig config;
  const models::TokenShape tokens{{5, 5, 5}, {0, 1, 2}};
  const MeasuredCost measured = measure_encoder(config, "hot", tokens, 2, 3, 10);
  EXPECT_EQ(measured.repeats, 3);
  EXPECT_GT(measured.inference_seconds, 0);
  EXPECT_GT(measured.training_seconds, measured.inference_seconds * 0.5);
  // At least one activation of 125 tokens × 64 floats at a time; training keeps many more.
  EXPECT_GT(measured.inference_bytes, 125 * 64 * 4);
  EXPECT_GT(measured.training_bytes, 2 * measured.inference_bytes);
}

TEST(GrowthExponent, OfPowersIsThePower) {
  EXPECT_NEAR(growth_exponent({1, 8, 64}, {3, 3 * std::pow(8, 1.5), 3 * std::pow(64, 1.5)}), 1.5, 1e-12);
  EXPECT_TRUE(std::isnan(growth_exponent({1}, {2})));
}

}  // namespace
}  // namespace modewise::analysis
