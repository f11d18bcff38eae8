#include "modewise/nn/attention/attention_cost.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace modewise::nn {
namespace {

// Multiply-adds of one layer at N = 3 × 5 tokens, width 8 and 2 heads, by hand.
TEST(AttentionTypeCost, CountsProducts) {
  const auto multiply_adds = [](const std::string& type, const AttentionTypeOptions& options = {}) {
    CostAccount account;
    add_attention(account, type, {{3, 5}, 0, 8, 2}, options);
    return std::move(account).cost({}).multiply_adds() - 2 * 15 * 8 * 8;  // value and output
  };
  const double mixing = 15 * 15 * 8;
  EXPECT_EQ(multiply_adds("random"), mixing);
  EXPECT_EQ(multiply_adds("ct"), 2 * 15 * 8 * 8 + 2 * mixing);
  AttentionTypeOptions projected;
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
  AttentionTypeOptions named;
  named.mixture = {"random", "tensor-width", "dense"};
  EXPECT_EQ(multiply_adds("mixture", named), width + 15 * 8 * 8 + 15 * 15 * (8 + 2) + mixing);
}

// Longest paths by hand; tests/python/test_series_classification.py compares defaults with a graph search.
TEST(AttentionHops, CountsStepsBetweenTheFurthestTokens) {
  const auto axial = [](std::vector<int64_t> fold, int64_t modes, int64_t n) {
    return attention_hops({.type = "axial", .fold = std::move(fold), .modes = modes}, n);
  };
  EXPECT_EQ(axial({4, 4}, 0, 16), 2);
  EXPECT_EQ(axial({0, 4, 4}, 0, 16), 2);  // all in the first block
  EXPECT_EQ(axial({0, 4, 4}, 0, 17), 3);
  EXPECT_EQ(axial({0, 4, 4}, 2, 16), 2);
  EXPECT_EQ(axial({0, 4, 4}, 2, 17), std::nullopt);
  EXPECT_EQ(axial({5, 1, 3}, 0, 15), 2);  // no two tokens differ in the mode of size 1
  EXPECT_EQ(axial({1, 1, 3}, 1, 3), 1);
  EXPECT_EQ(axial({4, 4}, 0, 1), 0);
  const auto window = [](int64_t width, int64_t n) {
    return attention_hops({.type = "window", .window = width}, n);
  };
  EXPECT_EQ(window(9, 9), 1);
  EXPECT_EQ(window(3, 4), 2);  // 0 -> 2 -> 3
  EXPECT_EQ(window(3, 10), 8);
  EXPECT_EQ(window(5, 10), 4);             // 0 -> 4 -> 6 -> 8 -> 9
  EXPECT_EQ(window(4, 10), 7);             // one later token, two earlier ones
  EXPECT_EQ(window(2, 10), std::nullopt);  // the token and the one before it
  EXPECT_EQ(window(1, 2), std::nullopt);
  for (const std::string type : {"full", "pooled", "performer"})
    EXPECT_EQ(attention_hops({.type = type, .fold = {2, 5}}, 10), 1);
  for (const std::string type : {"random", "topk", "reformer"})
    EXPECT_EQ(attention_hops({.type = type}, 10), std::nullopt);
}

TEST(AttentionSteps, CountProductsAndWeightsOfPairs) {
  const AttentionSteps steps = attention_steps({.width = 8, .heads = 2, .type = "axial", .fold = {3, 5}}, 15);
  EXPECT_EQ(steps.logits, 15 * (3 + 5) * 8);
  EXPECT_EQ(steps.softmax, 15 * (3 + 5) * 2);
  EXPECT_EQ(steps.mixing, 15 * (3 + 5) * 8);
}

}  // namespace
}  // namespace modewise::nn
