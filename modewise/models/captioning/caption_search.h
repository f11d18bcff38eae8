#pragma once
// Captions from a captioner: the likeliest word at each place, the likeliest of several captions, or drawn. A
// caption ends with the end mark or at max_words words. Marks other than the end are never chosen, and the
// probabilities are those of what may be chosen.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/models/captioning/captioner.h"

namespace modewise::models {

struct FoundCaption {
  std::vector<int64_t> words;  // without marks
  bool ended = false;          // false: cut at max_words
  double log_probability = 0;  // natural, of the words and the end mark
};

struct BeamOptions {
  int64_t beams = 3;
  /// Captions are compared by log_probability / n^length_penalty, n words with the end mark: 0 compares
  /// probabilities, 1 their geometric mean a word.
  double length_penalty = 0;
};

/// Logarithms of the probabilities of the next word from logits [..., V]: −∞ for padding, begin and unknown.
at::Tensor caption_log_probabilities(const at::Tensor& logits);

/// For each of the pictures cells [B, h, w, D], by one step a word for all of them. No gradients; dropout
/// acts as the captioner's mode says. Of equally likely words the lower number wins.
std::vector<FoundCaption> greedy_captions(Captioner& captioner, const at::Tensor& cells);

/// Keeps the `beams` likeliest beginnings of each picture's caption; one that ends leaves its place to none.
/// The best ended caption is the result. Throws a usage error for beams < 1 or a length_penalty below 0.
std::vector<FoundCaption> beam_captions(Captioner& captioner, const at::Tensor& cells,
                                        const BeamOptions& options = {});

/// `each` captions a picture (those of a picture together), drawn as the model says. A word depends on
/// `seed`, the caption's number in the result and its place alone.
std::vector<FoundCaption> sample_captions(Captioner& captioner, const at::Tensor& cells, uint64_t seed,
                                          int64_t each = 1);

}  // namespace modewise::models
