#include "modewise/models/captioning/caption_search.h"

#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "modewise/core/random.h"
#include "modewise/models/captioning/next_words.h"

namespace modewise::models {
namespace {

/// Decodes word by word for each row; `choose` picks a token from the log probabilities.
template <class Choose>
std::vector<FoundCaption> write(NextWords next, int64_t rows, int64_t max_words, const Choose& choose) {
  std::vector<FoundCaption> captions(static_cast<size_t>(rows));
  std::vector<int64_t> tokens(captions.size(), CaptionToken::begin);
  size_t open = captions.size();
  for (int64_t place = 0; place < max_words && open > 0; ++place) {
    next.append(tokens);
    for (size_t row = 0; row < captions.size(); ++row) {
      FoundCaption& caption = captions[row];
      if (caption.ended) continue;
      const std::span<const double> chances = next.of(row);
      const int64_t word = choose(chances, row, place);
      caption.log_probability += chances[static_cast<size_t>(word)];
      tokens[row] = word;
      if (word == CaptionToken::end)
        caption.ended = true, --open;
      else
        caption.words.push_back(word);
    }
  }
  return captions;
}

}  // namespace

at::Tensor caption_log_probabilities(const at::Tensor& logits) {
  at::Tensor never = at::full({logits.size(-1)}, false, logits.options().dtype(at::kBool));
  for (const int64_t mark : {CaptionToken::padding, CaptionToken::begin, CaptionToken::unknown})
    never.select(0, mark).fill_(true);
  return at::log_softmax(logits.masked_fill(never, -std::numeric_limits<double>::infinity()), -1);
}

std::vector<FoundCaption> greedy_captions(Captioner& captioner, const at::Tensor& cells) {
  const auto likeliest = [](std::span<const double> chances, size_t, int64_t) {
    return std::max_element(chances.begin(), chances.end()) - chances.begin();
  };
  return write(NextWords(captioner, cells, 1), cells.size(0), captioner.max_words(), likeliest);
}

std::vector<FoundCaption> sample_captions(Captioner& captioner, const at::Tensor& cells, uint64_t seed,
                                          int64_t each) {
  const auto drawn = [seed](std::span<const double> chances, size_t row, int64_t place) {
    const RandomStream stream{seed, RandomSite::sampled_text, row};
    double left = stream.uniform(static_cast<uint64_t>(place));
    int64_t last = CaptionToken::end;  // if rounding leaves a remainder
    for (size_t word = 0; word < chances.size(); ++word) {
      const double share = std::exp(chances[word]);
      if (share == 0) continue;
      last = static_cast<int64_t>(word);
      left -= share;
      if (left < 0) break;
    }
    return last;
  };
  return write(NextWords(captioner, cells, each), cells.size(0) * each, captioner.max_words(), drawn);
}

}  // namespace modewise::models
