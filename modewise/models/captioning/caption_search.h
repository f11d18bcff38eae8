#pragma once
// Caption decoding: greedy search, beam search, and sampling. A caption ends with EOS or at max_words words.
// Special tokens other than EOS are never chosen; probabilities are renormalized over the allowed tokens.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/models/captioning/captioner.h"

namespace modewise::models {

struct FoundCaption {
  std::vector<int64_t> words;  // without special tokens
  bool ended = false;          // false: truncated at max_words
  double log_probability = 0;  // natural logarithm, over words and EOS
};

struct BeamOptions {
  int64_t beams = 3;
  /// Captions are ranked by log_probability / n^length_penalty, n words including EOS: 0 compares
  /// probabilities, 1 their geometric mean per word.
  double length_penalty = 0;
};

/// Log probabilities of the next word from logits [..., V]: −∞ for the padding, BOS and unknown tokens.
at::Tensor caption_log_probabilities(const at::Tensor& logits);

/// Greedy search for each image, cells [B, h, w, D], batched over images. No gradients; dropout follows the
/// captioner's mode. Ties go to the lower token id.
std::vector<FoundCaption> greedy_captions(Captioner& captioner, const at::Tensor& cells);

/// Beam search with `beams` beams per image; an ended caption frees no beam. Returns the best ended caption.
/// Throws a usage error for beams < 1 or length_penalty < 0.
std::vector<FoundCaption> beam_captions(Captioner& captioner, const at::Tensor& cells,
                                        const BeamOptions& options = {});

/// Samples `each` captions per image (grouped by image) from the model's distribution. A word depends only on
/// `seed`, the caption's index in the result and its position.
std::vector<FoundCaption> sample_captions(Captioner& captioner, const at::Tensor& cells, uint64_t seed,
                                          int64_t each = 1);

}  // namespace modewise::models
