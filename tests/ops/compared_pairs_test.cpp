#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "modewise/ops/attention/attention_types.h"

namespace modewise::ops {
namespace {

TEST(ComparedPairs, AreThoseThatEachFormSees) {
  const auto pairs = [](const char* type, std::vector<int64_t> fold, int64_t window, int64_t n) {
    TensorAttentionOptions options;
    options.type = type;
    options.fold = std::move(fold);
    options.window = window;
    options.sinks = 2;
    return compared_pairs({options, 1}, n);
  };
  EXPECT_EQ(pairs("full", {}, 0, 5), 15);
  EXPECT_EQ(pairs("window", {}, 2, 5), 1 + 4 * 2);
  TensorAttentionOptions centred = {.type = "window", .causal = false};
  centred.window = 3;
  // Blocks of 256 and 44 queries, with 2 keys before and 2 after each block where there are any.
  EXPECT_EQ(compared_pairs({centred, 1}, 300), 256 * 258 + 44 * 46);
  EXPECT_EQ(pairs("lambda", {}, 2, 5), 1 + 2 + 3 + 4 + 4);
  EXPECT_EQ(pairs("topk", {}, 0, 5), 25);
  EXPECT_EQ(pairs("axial", {0, 3}, 0, 5), 6 * 1.5 + 6 * 2);  // 2 × 3 cells
  EXPECT_EQ(pairs("pooled", {4, 2}, 0, 7), 8 * 4 + 8 * 2);
  // Blocks of 2 tokens, grouped by 2: tokens attend to 0 0 1 1 0 0 1 1 0 inner and 0 0 0 0 1 1 1 1 2 outer
  // blocks; 4 blocks of 2 tokens and 2 of 2 blocks are summarized.
  EXPECT_EQ(pairs("summary", {0, 2, 2}, 3, 9), (1 + 2 + 7 * 3) + 4 + 6 + 4 * 2 + 2 * 2);
}

TEST(ComparedPairs, OfLowRankAndHashedTypesFollowTheirSizes) {
  PairOptions options;
  options.head_width = 8, options.longest = 11;
  options.own["projected"] = 3, options.own["landmarks"] = 2;
  options.own["chunk"] = 4, options.own["rounds"] = 5;
  const auto pairs = [&](const char* type) {
    options.type = type;
    return compared_pairs(options, 10);
  };
  EXPECT_EQ(pairs("linformer"), 10 * 3);
  EXPECT_EQ(pairs("nystroemformer"), 10 * 2 + 2 * 2 + 2 * 10);
  EXPECT_EQ(pairs("reformer"), 5 * 12 * 8);  // three chunks
  EXPECT_EQ(pairs("performer"), 10 * 24);    // 8⌈ln 8⌉
  options.own["features"] = 7;
  EXPECT_EQ(pairs("performer"), 10 * 7);
  options.own["projected"] = 0;
  EXPECT_EQ(pairs("linformer"), 10 * 2);  // a quarter of 11
}

}  // namespace
}  // namespace modewise::ops
