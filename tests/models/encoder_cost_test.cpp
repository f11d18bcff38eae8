#include "modewise/models/encoder_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "modewise/models/token_encoder.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {
namespace {

class EncoderParameters : public testing::TestWithParam<std::tuple<std::string, std::vector<std::string>>> {};

TEST_P(EncoderParameters, EqualTheBuiltEncoder) {
  const auto& [mechanism, settings] = GetParam();
  EncoderConfig config;
  config.width = 24;
  Fields fields;
  config.block_fields(fields);
  fields.group("position", config.position);
  fields.group("attention", config.attention);
  for (const std::string& setting : settings) fields.set(setting);
  const TokenShape tokens{{3, 5, 4}, {0, 2}};
  nn::Initializer init(1);
  const TokenEncoder encoder(config, mechanism, tokens, 0, init);
  int64_t built = 0;
  for (const auto& parameter : encoder.parameters()) built += parameter.numel();
  nn::CostAccount account;
  add_codes(account, config, tokens);
  add_blocks(account, config, mechanism, tokens, Projection::pooled);
  EXPECT_EQ(std::move(account).cost(tokens.sizes).parameters(), built);
}

std::vector<std::vector<std::string>> attention_settings() {
  std::vector<std::vector<std::string>> all;
  for (const std::string& type : ops::attention_names(ops::TokenLayout::grid))
    all.push_back({"attention.type=" + type, "position.rotary=none"});
  return all;
}

INSTANTIATE_TEST_SUITE_P(AttentionRegistry, EncoderParameters,
                         testing::Combine(testing::Values("transformer"),
                                          testing::ValuesIn(attention_settings())));

INSTANTIATE_TEST_SUITE_P(
    Forms, EncoderParameters,
    testing::Combine(testing::Values("hot", "transformer", "spatial", "temporal", "divided", "pooling"),
                     testing::Values(std::vector<std::string>{},
                                     std::vector<std::string>{"feed_forward=none"},
                                     std::vector<std::string>{"attention.kernel=none", "feed_forward=gelu"},
                                     std::vector<std::string>{"position.encoding=learned", "layer_scale=0.1"},
                                     std::vector<std::string>{"attention.query_key_norm=false",
                                                              "position.mode_embeddings=false"})));

}  // namespace
}  // namespace modewise::models
