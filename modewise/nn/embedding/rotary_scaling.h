#pragma once
// Frequencies of rotary codes, and the ways to stretch them for texts longer than those trained on. The
// formulas are those of Hugging Face transformers, so that its models mean the same here.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/ops/attention/tensor_attention.h"

namespace modewise::nn {

struct RotaryScaling {
  double base = 10000;
  /// none; linear (position interpolation, Chen et al. 2023: frequencies / factor); ntk (base ·
  /// factor^(d/(d−2))); yarn (Peng et al. 2023); llama3 (as in Llama 3.1).
  std::string kind = "none";
  double factor = 1;
  int64_t original_length = 0;  // tokens of the texts trained on (yarn, llama3)
  double low_frequency_factor = 1, high_frequency_factor = 4;  // llama3
  double beta_fast = 32, beta_slow = 1;                        // yarn
  bool truncate = true;  // yarn: whole dimensions as borders of its ramp
  double gain = 0;       // yarn: what cos and sin are multiplied by; 0: 0.1·ln(factor) + 1
  /// yarn: all frequencies are divided by the factor, as where no pair turns beta_slow times within the
  /// original length. transformers' ramp runs backwards there, and is kept for models that it trained.
  bool divide_all = false;
};

/// The d/2 angles a position turns by.
std::vector<double> rotary_frequencies(const RotaryScaling& scaling, int64_t head_width);
/// What cos and sin are multiplied by: 1 but for yarn.
double rotary_gain(const RotaryScaling& scaling);
/// Whether the frequencies depend on `original_length`: yarn, llama3.
bool compares_lengths(const RotaryScaling& scaling);

/// The scaling of a level of positions (blocks, or cells of a mode) of which texts of the original length
/// have `original` and texts `factor` times as long have `extended`. yarn and llama3 compare wavelengths with
/// a length, so they take `original` for it and extended / original for the factor; where both are equal
/// nothing is scaled, and where `original` is too short for yarn's ramp all is divided. The other kinds know
/// no length and stay as they are.
RotaryScaling level_scaling(const RotaryScaling& scaling, int64_t original, int64_t extended);

/// One row of frequencies a level (0: token positions; l: block indices), each with its own scaling.
ops::RotaryEmbedding rotary_embedding(const std::vector<RotaryScaling>& levels, int64_t head_width);

}  // namespace modewise::nn
