#include "modewise/core/random.h"

#include <gtest/gtest.h>

#include <set>

namespace modewise {
namespace {

// Known-answer vectors of the Random123 distribution (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, MatchesTheKnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, NormalsHaveUnitMoments) {
  const RandomStream stream{.seed = 3, .site = RandomSite::simulation};
  double sum = 0, squares = 0;
  const int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double x = stream.normal(static_cast<uint64_t>(i));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
}

TEST(RandomPermutation, IsAPermutationThatDependsOnSeedAndStep) {
  const auto a = random_permutation(1000, {.seed = 1, .step = 0});
  EXPECT_EQ(std::set<int64_t>(a.begin(), a.end()).size(), 1000u);
  EXPECT_EQ(*std::min_element(a.begin(), a.end()), 0);
  EXPECT_EQ(*std::max_element(a.begin(), a.end()), 999);
  EXPECT_EQ(a, random_permutation(1000, {.seed = 1, .step = 0}));
  EXPECT_NE(a, random_permutation(1000, {.seed = 1, .step = 1}));
  EXPECT_NE(a, random_permutation(1000, {.seed = 2, .step = 0}));
  EXPECT_TRUE(random_permutation(0, {}).empty());
}

}  // namespace
}  // namespace modewise
