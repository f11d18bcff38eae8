// Captioning losses by formula, and the CIDEr-D reward.

#include "modewise/tasks/captioning/loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "modewise/tasks/captioning/task.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kRows = 2, kSteps = 3, kWords = 5;

/// [2, 3, 5], all different.
at::Tensor some_logits() {
  std::vector<double> values;
  for (int i = 0; i < kRows * kSteps * kWords; ++i) values.push_back(std::sin(1.7 * i) * 2 + 0.01 * i);
  return at::tensor(values, at::kDouble).view({kRows, kSteps, kWords});
}

double log_score(const at::Tensor& logits, int64_t row, int64_t t, int64_t word) {
  double sum = 0;
  for (int64_t v = 0; v < kWords; ++v) sum += std::exp(logits[row][t][v].item<double>());
  return logits[row][t][word].item<double>() - std::log(sum);
}

const std::vector<std::vector<int64_t>> kTargets = {{4, 2, 0}, {3, 4, 2}};

at::Tensor targets() {
  return at::tensor({4, 2, 0, 3, 4, 2}, at::kLong).view({kRows, kSteps});
}

TEST(CaptionLoss, IsTheMeanOverWordsOfSmoothedCrossEntropy) {
  const at::Tensor logits = some_logits();
  for (const double smoothing : {0.0, 0.3}) {
    double sum = 0;
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t t = 0; t < kSteps; ++t) {
        const int64_t wanted = kTargets[static_cast<size_t>(row)][static_cast<size_t>(t)];
        if (wanted == 0) continue;
        for (int64_t v = 0; v < kWords; ++v)
          sum -= ((v == wanted ? 1 - smoothing : 0) + smoothing / kWords) * log_score(logits, row, t, v);
      }
    EXPECT_NEAR(caption_loss(logits, targets(), smoothing).item<double>(), sum / 5, 1e-12) << smoothing;
  }
}

TEST(CaptionsSideBySide, HaveRowsWithoutTargetsWhereAImageHasFewer) {
  const std::vector<std::vector<std::vector<int64_t>>> images = {{{7}, {8, 9}, {6}}, {{5}}};
  const data::CaptionTokens tokens = side_by_side(images, 2, 9);
  const at::Tensor inputs = at::tensor({1, 7, 0, 1, 8, 9, 1, 5, 0, 1, 0, 0}, at::kLong).view({4, 3});
  const at::Tensor wanted = at::tensor({7, 2, 0, 8, 9, 2, 5, 2, 0, 0, 0, 0}, at::kLong).view({4, 3});
  EXPECT_TRUE(tokens.inputs.equal(inputs)) << tokens.inputs;
  EXPECT_TRUE(tokens.targets.equal(wanted)) << tokens.targets;
}

TEST(SelfCriticalLoss, WeighsTheWordsOfACaptionByItsAdvantage) {
  const at::Tensor logits = some_logits().requires_grad_();
  const std::vector<double> advantages = {0.7, -1.5};
  double sum = 0;
  for (int64_t row = 0; row < kRows; ++row)
    for (int64_t t = 0; t < kSteps; ++t)
      if (const int64_t word = kTargets[static_cast<size_t>(row)][static_cast<size_t>(t)]; word != 0)
        sum -= advantages[static_cast<size_t>(row)] * log_score(logits, row, t, word);
  const at::Tensor loss = self_critical_loss(logits, targets(), at::tensor(advantages, at::kDouble));
  EXPECT_NEAR(loss.item<double>(), sum / 5, 1e-12);
  // −A (one-hot − p) / n: words of better captions become more probable, those of worse ones less.
  loss.backward();
  for (int64_t v = 0; v < kWords; ++v) {
    const double p = std::exp(log_score(logits, 1, 0, v));
    EXPECT_NEAR(logits.grad()[1][0][v].item<double>(), 1.5 * ((v == 3 ? 1 : 0) - p) / 5, 1e-12);
    EXPECT_EQ(logits.grad()[0][2][v].item<double>(), 0);
  }
}

TEST(ScheduledSampling, PutsTheModelsWordsInPlaceOfSome) {
  const at::Tensor inputs = at::tensor({1, 4, 3, 1, 4, 0}, at::kLong).view({kRows, kSteps});
  EXPECT_TRUE(mixed_inputs(inputs, some_logits(), 0, 1, 2).equal(inputs));
  // One word has probability 1: it is sampled, from the previous position.
  at::Tensor logits = at::zeros({kRows, kSteps, kWords}, at::kDouble);
  logits[0][0][3] = 1000;
  logits[0][1][2] = 1000;
  logits[1][0][4] = 1000;
  logits[1][1][3] = 1000;
  const at::Tensor drawn = at::tensor({1, 3, 2, 1, 4, 0}, at::kLong).view({kRows, kSteps});
  EXPECT_TRUE(mixed_inputs(inputs, logits, 1, 1, 2).equal(drawn));
}

TEST(ScheduledSampling, DrawsWithTheProbabilitiesOfTheModel) {
  constexpr int64_t kMany = 4000;
  const std::vector<double> p = {0.1, 0.0, 0.2, 0.3, 0.4};
  const at::Tensor logits = at::tensor(p, at::kDouble).log().expand({kMany, 2, kWords});
  const at::Tensor inputs = at::tensor({1, 1}, at::kLong).expand({kMany, 2}).contiguous();
  const at::Tensor half = mixed_inputs(inputs, logits, 0.5, 3, 8).select(1, 1);
  EXPECT_TRUE(mixed_inputs(inputs, logits, 0.5, 3, 8).select(1, 1).equal(half));
  EXPECT_FALSE(mixed_inputs(inputs, logits, 0.5, 3, 9).select(1, 1).equal(half));
  EXPECT_FALSE(mixed_inputs(inputs, logits, 0.5, 4, 8).select(1, 1).equal(half));
  for (int64_t v = 0; v < kWords; ++v) {
    const double expected = 0.5 * p[static_cast<size_t>(v)] + (v == 1 ? 0.5 : 0);
    const double stddev = std::sqrt(expected * (1 - expected) / kMany);
    EXPECT_NEAR(half.eq(v).to(at::kDouble).mean().item<double>(), expected, 4 * stddev) << v;
  }
}

data::CaptionSet rewarded_set() {
  data::CaptionSet set;
  const auto add = [&](std::vector<std::vector<std::string>> words) {
    set.train.push_back(std::ssize(set.images));
    set.images.push_back({std::ssize(set.images), "", "", {}, std::move(words)});
  };
  add({{"a", "dog", "runs", "here"}, {"the", "dog", "runs"}});
  add({{"a", "cat", "sits"}, {"a", "cat", "sits", "on", "a", "mat"}});
  add({{"two", "birds", "fly"}});
  // "here" is not in the vocabulary.
  set.vocabulary = {{"a", "the", "dog", "cat", "runs", "sits", "on", "mat", "two", "birds", "fly"}, "test"};
  return set;
}

TEST(CaptionReward, IsCiderDWithTheEndAsAWord) {
  const data::CaptionSet set = rewarded_set();
  const CaptionReward reward(set);
  const auto of = [&](int64_t image, std::vector<std::string> words, bool ended) {
    return reward.of(image, {set.vocabulary.numbers(words), ended, 0});
  };
  // CIDEr-D computed in Python, with a fourth word "</s>".
  EXPECT_NEAR(of(0, {"a", "dog", "runs"}, true), 4.678298079966108, 1e-9);
  EXPECT_NEAR(of(0, {"a", "dog", "runs"}, false), 3.971894141546111, 1e-9);
  EXPECT_NEAR(of(1, {"a", "cat", "sits", "on", "a", "mat"}, true), 6.625139050003616, 1e-9);
  EXPECT_NEAR(of(2, {"a", "cat", "sits"}, true), 0, 1e-12);
  EXPECT_NEAR(of(0, {"the"}, true), 0.6826874425197454, 1e-9);
  // The unknown token matches no reference word, although "here" is unknown too.
  EXPECT_NEAR(of(0, {"a", "dog", "runs", "here"}, true), 3.0527575990111866, 1e-9);
}

}  // namespace
}  // namespace modewise::tasks
