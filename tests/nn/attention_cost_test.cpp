#include "modewise/nn/attention/attention_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

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

}  // namespace
}  // namespace modewise::nn
