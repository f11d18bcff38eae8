// Caption metrics against pycocoevalcap and METEOR 1.5 (vectors/make_caption_metrics.py), and against values
// computed by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <sstream>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/metrics/caption_rouge.h"
#include "modewise/metrics/caption_scores.h"
#include "modewise/metrics/cider.h"
#include "modewise/metrics/english_stemmer.h"
#include "modewise/metrics/meteor.h"
#include "modewise/metrics/meteor_alignment.h"
#include "tests/error_of.h"

namespace modewise::metrics {
namespace {

const nlohmann::json& caption_vectors() {
  static const auto json =
      nlohmann::json::parse(read_file(MODEWISE_SOURCE_DIR "/tests/metrics/vectors/caption_metrics.json"));
  return json;
}

/// Captions from texts with spaces.
class Captions {
 public:
  Words words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> split;
    for (std::string word; stream >> word;) split.push_back(word);
    return kept_.emplace_back(numbers_.numbers(split));
  }
  CaptionCase image(const std::string& candidate, const std::vector<std::string>& references) {
    CaptionCase one{words(candidate), {}};
    for (const std::string& reference : references) one.references.push_back(words(reference));
    return one;
  }
  MeteorExactStem meteor() const { return MeteorExactStem(numbers_.words()); }
  const std::vector<std::string_view>& all_words() const { return numbers_.words(); }

 private:
  WordNumbers numbers_;
  std::deque<std::vector<int32_t>> kept_;
};

void expect_scores(const CaptionScores& scores, const nlohmann::json& wanted, const std::string& what) {
  for (size_t n = 0; n < 4; ++n)
    EXPECT_DOUBLE_EQ(scores.bleu[n], wanted["bleu"][n].get<double>()) << what << " BLEU-" << n + 1;
  EXPECT_DOUBLE_EQ(scores.meteor_exact_stem, wanted["meteor"].get<double>()) << what << " METEOR";
  EXPECT_DOUBLE_EQ(scores.rouge_l, wanted["rouge_l"].get<double>()) << what << " ROUGE-L";
  EXPECT_NEAR(scores.cider_d, wanted["cider_d"].get<double>(), 1e-12) << what << " CIDEr-D";
}

TEST(CaptionMetrics, AreThoseOfPycocoevalcap) {
  Captions captions;
  std::vector<CaptionCase> images;
  for (const auto& one : caption_vectors()["images"])
    images.push_back(captions.image(one["candidate"], one["references"].get<std::vector<std::string>>()));
  ASSERT_EQ(images.size(), 53u);
  const CaptionEvaluation evaluation = score_captions(images, captions.all_words());
  expect_scores(evaluation.all, caption_vectors()["all"], "all");
  ASSERT_EQ(evaluation.images.size(), images.size());
  for (size_t i = 0; i < images.size(); ++i)
    expect_scores(evaluation.images[i], caption_vectors()["images"][i],
                  caption_vectors()["images"][i]["candidate"]);
}

TEST(CaptionMetrics, HaveNamesAndNeedImages) {
  Captions captions;
  const std::vector<CaptionCase> one = {captions.image("a b", {"a b"})};
  const auto json = to_json(score_captions(one, captions.all_words()).all);
  std::string keys;
  for (const auto& [key, value] : json.items()) keys += key + " ";
  EXPECT_EQ(keys, "bleu_1 bleu_2 bleu_3 bleu_4 meteor_exact_stem rouge_l cider_d ");
  EXPECT_EQ(json["meteor_exact_stem"], 1.0);
  EXPECT_EQ(json["rouge_l"], 1.0);
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { score_captions({}, {}); }), "there are no captions to score");
}

TEST(EnglishStemmer, IsThatOfMeteor) {
  ASSERT_EQ(caption_vectors()["stems"].size(), 128u);
  for (const auto& [word, stem] : caption_vectors()["stems"].items())
    EXPECT_EQ(english_stem(word), stem.get<std::string>()) << word;
}

TEST(Bleu, ClipsAndTakesTheClosestLength) {
  // Papineni et al., example 2: "the" seven times, at most twice in a reference. Lengths 6 and 8 are equally
  // close to 7.
  Captions captions;
  const BleuCounts counts = bleu_counts(captions.image(
      "the the the the the the the", {"the cat is on the mat", "there is a cat on the mat as well"}));
  EXPECT_EQ(counts.found[0], 2);
  EXPECT_EQ(counts.total[0], 7);
  EXPECT_EQ(counts.found[1], 0);
  EXPECT_EQ(counts.total[3], 4);
  EXPECT_EQ(counts.reference_length, 6);
  EXPECT_NEAR(counts.score()[0], 2.0 / 7, 1e-9);
}

TEST(Bleu, PunishesShortCaptionsByAllLengthsTogether) {
  Captions captions;
  BleuCounts sum = bleu_counts(captions.image("a b", {"a b c d"}));
  EXPECT_NEAR(sum.score()[0], std::exp(1 - 4.0 / 2), 1e-8);
  sum.add(bleu_counts(captions.image("e f g h i j", {"e f g h"})));
  EXPECT_NEAR(sum.score()[0], 6.0 / 8, 1e-9);  // 8 words against 8
  EXPECT_NEAR(sum.score()[1], std::sqrt(6.0 / 8 * 4 / 6), 1e-9);
}

TEST(CaptionRouge, TakesPrecisionAndRecallFromDifferentReferences) {
  Captions captions;
  // Precision 3/4 with the first reference (LCS a b c), recall 1 with the second.
  const double p = 0.75, r = 1;
  EXPECT_DOUBLE_EQ(caption_rouge_l(captions.image("a b x c", {"a b c d e f", "x"})),
                   2.44 * p * r / (r + 1.44 * p));
  EXPECT_EQ(caption_rouge_l(captions.image("a", {"b"})), 0);
  EXPECT_EQ(caption_rouge_l(captions.image("", {""})), 1);
  EXPECT_EQ(caption_rouge_l(captions.image("", {"a"})), 0);
}

TEST(CaptionRouge, FindsSubsequencesAcrossBlocks) {
  const auto made_up = [](uint64_t key, size_t length) {
    std::vector<int32_t> words;
    for (size_t i = 0; i < length; ++i)
      words.push_back(static_cast<int32_t>((key * 7919 + i * i * 31 + i * key) % 5));
    return words;
  };
  for (const size_t a_length : {1u, 17u, 63u, 64u, 65u, 130u}) {
    for (const size_t b_length : {1u, 31u, 64u, 129u}) {
      const auto a = made_up(a_length, a_length), b = made_up(b_length + 1, b_length);
      std::vector<std::vector<int64_t>> table(a_length + 1, std::vector<int64_t>(b_length + 1, 0));
      for (size_t i = 1; i <= a_length; ++i)
        for (size_t j = 1; j <= b_length; ++j)
          table[i][j] =
              a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
      EXPECT_EQ(common_subsequence(a, b), table[a_length][b_length]) << a_length << " " << b_length;
    }
  }
}

TEST(Cider, WorkedOutByHand) {
  // Two images; "a" is in both, so its weight is ln 2 − ln 2 = 0; b, c, d have weight ln 2.
  Captions captions;
  const CaptionCase first = captions.image("a b", {"a b c"}), second = captions.image("a", {"a d"});
  const CiderScorer scorer(std::vector{first, second});
  EXPECT_EQ(scorer.images(), 2);
  // n = 1: b against b and c; n = 2: "a b" against "a b" and "b c"; no longer ones. One word fewer.
  const double cosine = 1 / std::sqrt(2.0), penalty = std::exp(-1.0 / 72);
  EXPECT_DOUBLE_EQ(scorer.score(first), 10 * (cosine + cosine) / 4 * penalty);
  EXPECT_EQ(scorer.score(second), 0);
  // A caption that repeats a word is clipped to the count of the reference: vectors 3 b and 1 b.
  EXPECT_NEAR(scorer.score(captions.image("b b b", {"b"})), 10.0 / 4 * (1.0 / 3) * std::exp(-4.0 / 72),
              1e-12);
  // Two references: the mean.
  const double with_two = scorer.score(captions.image("a b", {"a b c", "d"}));
  EXPECT_DOUBLE_EQ(with_two, 10 * (cosine + cosine) / 4 * penalty / 2);
}

TEST(Cider, CountsAWordOnceAnImage) {
  Captions captions;
  const CiderScorer scorer(std::vector{captions.image("", {"b b", "b c"}), captions.image("", {"d d", "c e"}),
                                       captions.image("", {"e"})});
  // b is in one image of three, weight ln 3; c is in two, weight ln 3 − ln 2.
  const double rare = std::log(3.0), common = std::log(3.0) - std::log(2.0);
  EXPECT_DOUBLE_EQ(scorer.score(captions.image("b", {"b c"})),
                   10.0 / 4 * rare / std::hypot(rare, common) * std::exp(-1.0 / 72));
}

TEST(Cider, ScoresCaptionsOfOtherImagesByTheSameCounts) {
  // Unseen words have weight ln 3; "a", in two of three images, ln 3 − ln 2.
  Captions captions;
  const CiderScorer scorer(
      std::vector{captions.image("", {"a b"}), captions.image("", {"a c"}), captions.image("", {"d"})});
  const double rare = std::log(3.0), common = std::log(3.0) - std::log(2.0);
  const double one_word = common * common / (std::hypot(common, rare) * std::hypot(common, rare));
  const std::vector<CaptionCase> batch = {captions.image("a x", {"a y"}), captions.image("x y", {"x y"}),
                                          captions.image("q", {"a b"})};
  const std::vector<double> scores = scorer.scores(batch);
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_NEAR(scores[0], 10.0 / 4 * one_word, 1e-14);
  EXPECT_DOUBLE_EQ(scores[1], 10.0 / 4 * 2);
  EXPECT_EQ(scores[2], 0);
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { scorer.score(captions.image("a", {})); }),
            "CIDEr-D: an image without references");
}

TEST(Cider, OfOneImageIsZero) {
  Captions captions;
  const CaptionCase only = captions.image("a b", {"a b"});
  EXPECT_EQ(CiderScorer(std::vector{only}).score(only), 0);
}

TEST(Meteor, WorkedOutByHand) {
  // Content words dog, dogs, cat weigh 0.75, function words the, a 0.25; dog and dogs share a stem, weight
  // 0.6.
  Captions captions;
  const CaptionCase image = captions.image("the dog", {"the dogs cat"});
  const MeteorCounts counts = captions.meteor().best_counts(image);
  EXPECT_EQ(counts.chunks, 1);
  EXPECT_EQ(counts.candidate.matches[1][MeteorCounts::content], 1);
  EXPECT_EQ(counts.candidate.matches[0][MeteorCounts::function], 1);
  const double matched = 0.25 + 0.75 * 0.6, p = matched / (0.25 + 0.75), r = matched / (0.25 + 1.5);
  EXPECT_DOUBLE_EQ(counts.score(), (1 - 0.6 * std::pow(1 / 2.0, 0.2)) / (0.15 / p + 0.85 / r));
}

TEST(Meteor, EqualCaptionsHaveNoPenalty) {
  Captions captions;
  const CaptionCase image = captions.image("dogs dog dogs", {"cat", "dogs dog dogs"});
  const MeteorCounts counts = captions.meteor().best_counts(image);
  EXPECT_EQ(counts.score(), 1);
  MeteorCounts sum = counts;
  sum.add(counts);
  EXPECT_EQ(sum.chunks, 1);  // of the first; complete matches add none
  EXPECT_EQ(sum.candidate.all_words(), 6);
}

TEST(Meteor, PrefersFewChunks) {
  Captions captions;
  const Words candidate = captions.words("a x a b"), reference = captions.words("a b");
  const std::vector<int32_t> stems = {0, 1, 2};
  const MeteorAlignment alignment = align_words(candidate, reference, stems);
  EXPECT_EQ(alignment.matches[0].place, 2);
  EXPECT_EQ(alignment.matches[1].place, 3);
  EXPECT_EQ(alignment.chunks, 1);
  const MeteorAlignment swapped = align_words(captions.words("b a"), reference, stems);
  EXPECT_EQ(swapped.chunks, 2);
  EXPECT_EQ(align_words({}, reference, stems).matches[0].place, -1);
  EXPECT_EQ(align_words({}, reference, stems).chunks, 0);
}

}  // namespace
}  // namespace modewise::metrics
