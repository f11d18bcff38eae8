// Greedy and beam search against exhaustive and naive searches over a toy language, and sampling frequencies
// against probabilities.

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "modewise/core/error.h"
#include "modewise/core/random.h"
#include "modewise/models/captioning/caption_search.h"
#include "tests/models/captioning/small_captioner.h"

namespace modewise::models {
namespace {

constexpr int64_t kVocabulary = 7, kLongest = 4;
using Words = std::vector<int64_t>;

/// Toy language of three words: next-word probabilities depend on the image and on all words so far. Images
/// are numbers: cells [B, 1, 1, 1].
class ToyCaptioner : public Captioner {
 public:
  explicit ToyCaptioner(nn::Initializer init = nn::Initializer(1))
      : Captioner(config(), {.height = 1, .width = 1, .vocabulary = kVocabulary, .features = 1}, init) {}

  /// Next-word logits after `words` (without BOS).
  static std::vector<double> logits_of(int64_t image, const Words& words) {
    uint64_t text = 1;
    for (const int64_t word : words) text = text * kVocabulary + static_cast<uint64_t>(word);
    const RandomStream stream{static_cast<uint64_t>(image), RandomSite::simulation, 0};
    std::vector<double> out;
    for (uint64_t word = 0; word < kVocabulary; ++word)
      out.push_back(1.5 * stream.normal(text * kVocabulary + word));
    out[CaptionToken::padding] += 20;  // special tokens would be by far the most likely
    return out;
  }
  /// Log probability of `word` among EOS and the words.
  static double chance(int64_t image, const Words& words, int64_t word) {
    const std::vector<double> logits = logits_of(image, words);
    double sum = std::exp(logits[CaptionToken::end]);
    for (int64_t other = CaptionToken::first_word; other < kVocabulary; ++other)
      sum += std::exp(logits[static_cast<size_t>(other)]);
    return logits[static_cast<size_t>(word)] - std::log(sum);
  }

  CaptionState begin(const at::Tensor& cells) override {
    CaptionState state;
    state.cells = {cells};
    state.rows = {at::empty({cells.size(0), 0}, at::kLong)};
    return state;
  }
  at::Tensor step(CaptionState& state, const at::Tensor& tokens) override {
    state.rows[0] = at::cat({state.rows[0], tokens.unsqueeze(1)}, 1);
    const int64_t each = tokens.size(0) / state.cells[0].size(0);
    std::vector<double> out;
    for (int64_t row = 0; row < tokens.size(0); ++row) {
      Words words;
      for (int64_t place = 1; place < state.rows[0].size(1); ++place)
        words.push_back(state.rows[0][row][place].item<int64_t>());
      const auto logits = logits_of(static_cast<int64_t>(state.cells[0][row / each].item<double>()), words);
      out.insert(out.end(), logits.begin(), logits.end());
    }
    ++state.place;
    return at::tensor(out, at::kDouble).view({-1, kVocabulary});
  }
  at::Tensor logits(const at::Tensor&, const at::Tensor&) override { return {}; }
  at::Tensor looked(const at::Tensor&, const at::Tensor&) override { return {}; }

 private:
  static CaptionModelConfig config() {
    CaptionModelConfig out;
    out.max_words = kLongest;
    out.decoder.width = 4;
    return out;
  }
};

at::Tensor toy_images(int64_t count) {
  return at::arange(count, at::kDouble).view({-1, 1, 1, 1});
}

/// All captions of an image: ended ones, and ones truncated at the maximum length.
std::vector<FoundCaption> all_captions(int64_t image) {
  std::vector<FoundCaption> out;
  const std::function<void(const FoundCaption&)> extend = [&](const FoundCaption& begun) {
    if (static_cast<int64_t>(begun.words.size()) == kLongest) {
      out.push_back(begun);
      return;
    }
    FoundCaption ended = begun;
    ended.ended = true;
    ended.log_probability += ToyCaptioner::chance(image, begun.words, CaptionToken::end);
    out.push_back(ended);
    for (int64_t word = CaptionToken::first_word; word < kVocabulary; ++word) {
      FoundCaption longer = begun;
      longer.log_probability += ToyCaptioner::chance(image, begun.words, word);
      longer.words.push_back(word);
      extend(longer);
    }
  };
  extend({});
  return out;
}

double score(const FoundCaption& caption, double penalty) {
  return caption.log_probability /
         std::pow(static_cast<double>(caption.words.size()) + (caption.ended ? 1 : 0), penalty);
}

FoundCaption best_of(const std::vector<FoundCaption>& captions, double penalty) {
  return *std::max_element(captions.begin(), captions.end(), [&](const auto& a, const auto& b) {
    return score(a, penalty) < score(b, penalty);
  });
}

/// Naive beam search: the most likely extensions, as many as free beams.
FoundCaption naive_beam(int64_t image, size_t places, double penalty) {
  std::vector<FoundCaption> open(1), whole;
  while (!open.empty()) {
    std::vector<FoundCaption> longer;
    for (const FoundCaption& begun : open)
      for (const int64_t word : Words{2, 4, 5, 6}) {
        longer.push_back(begun);
        longer.back().log_probability += ToyCaptioner::chance(image, begun.words, word);
        if (word == CaptionToken::end)
          longer.back().ended = true;
        else
          longer.back().words.push_back(word);
      }
    std::sort(longer.begin(), longer.end(),
              [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
    longer.resize(std::min(longer.size(), places));
    open.clear();
    for (const FoundCaption& caption : longer)
      if (caption.ended || static_cast<int64_t>(caption.words.size()) == kLongest)
        whole.push_back(caption), --places;
      else
        open.push_back(caption);
  }
  return best_of(whole, penalty);
}

void expect_same(const FoundCaption& found, const FoundCaption& wanted, const std::string& where) {
  EXPECT_EQ(found.words, wanted.words) << where;
  EXPECT_EQ(found.ended, wanted.ended) << where;
  EXPECT_NEAR(found.log_probability, wanted.log_probability, 1e-12) << where;
}

TEST(CaptionSearch, WithAllBeamsIsExhaustive) {
  ToyCaptioner toy;
  ASSERT_EQ(all_captions(0).size(), 1 + 3 + 9 + 27 + 81);
  for (const double penalty : {0.0, 0.7, 1.0, 2.0}) {
    const auto found = beam_captions(toy, toy_images(31), {.beams = 121, .length_penalty = penalty});
    ASSERT_EQ(found.size(), 31);
    for (int64_t image = 0; image < 31; ++image)
      expect_same(found[static_cast<size_t>(image)], best_of(all_captions(image), penalty),
                  fmt::format("picture {}, penalty {}", image, penalty));
  }
}

TEST(CaptionSearch, KeepsTheLikeliestBeginnings) {
  ToyCaptioner toy;
  for (const int64_t beams : {2, 3, 5})
    for (const double penalty : {0.0, 1.0}) {
      const auto found = beam_captions(toy, toy_images(33), {.beams = beams, .length_penalty = penalty});
      for (int64_t image = 0; image < 33; ++image)
        expect_same(found[static_cast<size_t>(image)], naive_beam(image, static_cast<size_t>(beams), penalty),
                    fmt::format("picture {}, {} beams, penalty {}", image, beams, penalty));
    }
}

TEST(CaptionSearch, OfOneBeamIsGreedy) {
  ToyCaptioner toy;
  const auto greedy = greedy_captions(toy, toy_images(65)),
             beam = beam_captions(toy, toy_images(65), {.beams = 1});
  size_t cut = 0;
  for (int64_t image = 0; image < 65; ++image) {
    const FoundCaption& found = greedy[static_cast<size_t>(image)];
    FoundCaption wanted;
    while (!wanted.ended && static_cast<int64_t>(wanted.words.size()) < kLongest) {
      Words allowed = {2, 4, 5, 6};
      const int64_t word = *std::max_element(allowed.begin(), allowed.end(), [&](int64_t a, int64_t b) {
        return ToyCaptioner::chance(image, wanted.words, a) < ToyCaptioner::chance(image, wanted.words, b);
      });
      wanted.log_probability += ToyCaptioner::chance(image, wanted.words, word);
      wanted.ended = word == CaptionToken::end;
      if (!wanted.ended) wanted.words.push_back(word);
    }
    expect_same(found, wanted, fmt::format("picture {}", image));
    expect_same(beam[static_cast<size_t>(image)], wanted, fmt::format("picture {}, beam", image));
    cut += wanted.ended ? 0 : 1;
  }
  EXPECT_GT(cut, 0);  // both kinds occur
  EXPECT_LT(cut, 65);
}

TEST(CaptionSearch, DrawsCaptionsAsOftenAsTheyAreLikely) {
  ToyCaptioner toy;
  constexpr int64_t kDrawn = 4000;
  for (const int64_t image : {0, 5}) {
    const at::Tensor cells = at::full({1, 1, 1, 1}, static_cast<double>(image), at::kDouble);
    std::map<Words, int64_t> times;
    for (const FoundCaption& caption : sample_captions(toy, cells, 17, kDrawn)) {
      Words key = caption.words;
      if (caption.ended) key.push_back(CaptionToken::end);
      ++times[key];
    }
    double total = 0;
    for (const FoundCaption& caption : all_captions(image)) {
      Words key = caption.words;
      if (caption.ended) key.push_back(CaptionToken::end);
      const double p = std::exp(caption.log_probability), wanted = p * kDrawn;
      total += p;
      EXPECT_LT(std::abs(static_cast<double>(times[key]) - wanted), 5 * std::sqrt(wanted * (1 - p)) + 1)
          << fmt::format("picture {}, caption {}", image, fmt::join(key, " "));
    }
    EXPECT_NEAR(total, 1, 1e-12);
  }
}

TEST(CaptionSearch, DrawsTheSameForASeed) {
  ToyCaptioner toy;
  const auto words = [&](int64_t images, uint64_t seed, int64_t each) {
    std::vector<Words> out;
    for (const FoundCaption& caption : sample_captions(toy, toy_images(images), seed, each))
      out.push_back(caption.words);
    return out;
  };
  const std::vector<Words> all = words(17, 3, 2);
  ASSERT_EQ(all.size(), 34);
  EXPECT_EQ(words(17, 3, 2), all);
  EXPECT_EQ(words(5, 3, 2), std::vector<Words>(all.begin(), all.begin() + 10));
  EXPECT_NE(words(17, 4, 2), all);
}

TEST(CaptionSearch, CountsTheLogitsOfWholeCaptions) {
  const at::NoGradGuard no_grad;
  for (const char* name : {"transformer", "lstm"}) {
    const auto captioner = small_captioner(small_config(name));
    const at::Tensor cells = captioner->encode(some_images(3));
    for (const auto& found :
         {greedy_captions(*captioner, cells), beam_captions(*captioner, cells, {.beams = 3}),
          sample_captions(*captioner, cells, 1)}) {
      ASSERT_EQ(found.size(), 3);
      for (int64_t image = 0; image < 3; ++image) {
        const FoundCaption& caption = found[static_cast<size_t>(image)];
        Words tokens = {CaptionToken::begin}, next = caption.words;
        tokens.insert(tokens.end(), caption.words.begin(), caption.words.end());
        if (caption.ended)
          next.push_back(CaptionToken::end);
        else
          tokens.pop_back();
        const at::Tensor logits =
            captioner->logits(cells.narrow(0, image, 1), at::tensor(tokens, at::kLong).unsqueeze(0));
        const at::Tensor allowed = at::tensor(Words{2, 4, 5, 6, 7, 8, 9, 10}, at::kLong);
        const at::Tensor chances = at::log_softmax(logits[0].index_select(1, allowed), -1);
        double wanted = 0;
        for (size_t place = 0; place < next.size(); ++place) {
          ASSERT_TRUE(next[place] == 2 || next[place] >= 4);
          const int64_t column = next[place] == 2 ? 0 : next[place] - 3;
          wanted += chances[static_cast<int64_t>(place)][column].item<double>();
        }
        EXPECT_NEAR(caption.log_probability, wanted, 1e-12) << name;
      }
    }
  }
}

TEST(CaptionSearch, ChoosesNoMarkButTheEnd) {
  const at::Tensor logits = at::tensor(std::vector<double>{9, 8, 1, 7, 2, 3, 4}, at::kDouble);
  const at::Tensor chances = caption_log_probabilities(logits);
  for (const int64_t mark : {CaptionToken::padding, CaptionToken::begin, CaptionToken::unknown})
    EXPECT_EQ(chances[mark].item<double>(), -std::numeric_limits<double>::infinity());
  const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(3.0) + std::exp(4.0);
  EXPECT_NEAR(chances[2].item<double>(), 1 - std::log(sum), 1e-14);
  EXPECT_NEAR(chances[6].item<double>(), 4 - std::log(sum), 1e-12);
}

TEST(CaptionSearch, RefusesNoBeams) {
  ToyCaptioner toy;
  const auto said = [&](const BeamOptions& options) -> std::string {
    try {
      beam_captions(toy, toy_images(1), options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(said({.beams = 0}), "the beam size must be at least 1, got 0");
  EXPECT_EQ(said({.length_penalty = -1}), "the length penalty must be at least 0, got -1");
}

}  // namespace
}  // namespace modewise::models
