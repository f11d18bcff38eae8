// Masking for masked language modelling: rates, whole words, and determinism by seed and step.

#include "modewise/data/text/masking.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/remainder.h>
#include <gtest/gtest.h>

#include "modewise/text/load_tokenizer.h"
#include "tests/data/scratch.h"

namespace modewise::data {
namespace {

constexpr RandomStream kStream{.seed = 5, .site = RandomSite::masking, .step = 7};

/// 50 tokens: 0 … 3 are special tokens, even ones begin words.
MaskingVocabulary vocabulary() {
  MaskingVocabulary out{3, 50, std::vector<bool>(50, false), std::vector<bool>(50, false)};
  for (size_t i = 0; i < 4; ++i) out.is_special_token[i] = true;
  for (size_t i = 4; i < 50; i += 2) out.starts_word[i] = true;
  return out;
}

at::Tensor ids(int64_t rows, int64_t n) {
  at::Tensor out = at::arange(rows * n, at::kLong).remainder(45).add(5).view({rows, n});
  out.select(1, 0).fill_(0);
  out.select(1, n - 1).fill_(1);
  return out;
}

TEST(Masking, KeepsItsSharesAndLeavesMarksAlone) {
  const at::Tensor from = ids(200, 65);
  const MaskedRows rows = mask_rows(from, vocabulary(), {}, kStream);
  const at::Tensor asked = rows.targets.ge(0);
  EXPECT_TRUE(at::equal(rows.targets.masked_select(asked), from.masked_select(asked)));
  EXPECT_TRUE(
      at::equal(rows.inputs.masked_select(asked.logical_not()), from.masked_select(asked.logical_not())));
  EXPECT_FALSE(asked.select(1, 0).any().item<bool>());
  EXPECT_FALSE(asked.select(1, 64).any().item<bool>());
  // 200 · 63 draws: five standard deviations of a binomial count.
  const auto near = [](double share, double wanted, double n) {
    EXPECT_LT(std::abs(share - wanted), 5 * std::sqrt(wanted * (1 - wanted) / n)) << wanted;
  };
  const auto count = static_cast<double>(asked.sum().item<int64_t>());
  near(count / (200 * 63), 0.15, 200 * 63);
  const auto hidden = static_cast<double>(rows.inputs.eq(3).logical_and(asked).sum().item<int64_t>());
  const auto kept = static_cast<double>(rows.inputs.eq(from).logical_and(asked).sum().item<int64_t>());
  near(hidden / count, 0.8 + 0.1 / 50, count);
  near(kept / count, 0.1 + 0.1 / 50, count);
}

TEST(Masking, FollowsFromSeedAndStepAlone) {
  const at::Tensor from = ids(7, 33);
  const MaskedRows once = mask_rows(from, vocabulary(), {}, kStream),
                   again = mask_rows(from, vocabulary(), {}, kStream);
  EXPECT_TRUE(at::equal(once.inputs, again.inputs) && at::equal(once.targets, again.targets));
  RandomStream later = kStream;
  later.step = 8;
  EXPECT_FALSE(at::equal(mask_rows(from, vocabulary(), {}, later).targets, once.targets));
}

TEST(Masking, WholeWordsAreAskedForTogether) {
  MaskingConfig config;
  config.whole_words = true;
  const at::Tensor from = ids(100, 63);
  const at::Tensor asked = mask_rows(from, vocabulary(), config, kStream).targets.ge(0);
  int64_t within = 0, words = 0;
  for (int64_t r = 0; r < 100; ++r)
    for (int64_t i = 2; i < 62; ++i) {
      if (from[r][i].item<int64_t>() % 2 == 0) {
        ++words;
        continue;
      }
      EXPECT_EQ(asked[r][i].item<bool>(), asked[r][i - 1].item<bool>()) << r << " " << i;
      within += asked[r][i].item<bool>();
    }
  EXPECT_GT(within, 0);
  EXPECT_GT(words, 0);
}

TEST(Masking, ABatchAsksForOneTokenAtLeast) {
  MaskingConfig config;
  config.share = 0.001;
  const MaskedRows rows = mask_rows(ids(1, 3), vocabulary(), config, kStream);
  EXPECT_EQ(rows.targets.ge(0).sum().item<int64_t>(), 1);
  EXPECT_EQ(rows.targets[0][1].item<int64_t>(), 6);
}

TEST(Masking, ATokenBehindASpaceBeginsAWord) {
  const auto tokenizer = text::load_tokenizer("bytes");
  const MaskingVocabulary known = masking_vocabulary(*tokenizer, text::text_frame(*tokenizer));
  EXPECT_TRUE(known.starts_word[' ']);
  EXPECT_FALSE(known.starts_word['a']);
  EXPECT_FALSE(known.is_special_token['a']);
  EXPECT_TRUE(known.is_special_token[static_cast<size_t>(known.mask)]);
}

TEST(Masking, SharesThatSumToMoreThanOneAreRefused) {
  MaskingConfig config;
  config.hidden = 0.95;
  EXPECT_EQ(error_of(ErrorKind::config, [&] { config.validate("x.toml"); }),
            "x.toml: masking.mask_token_probability = 0.95 and masking.random_token_probability = 0.1 sum to "
            "more than 1");
}

}  // namespace
}  // namespace modewise::data
