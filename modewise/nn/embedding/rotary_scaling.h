#pragma once
// Frequencies of the rotary embedding, and their scaling for contexts longer than trained (RoPE scaling). The
// formulas are those of Hugging Face transformers, so that its models give the same results here.

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
  int64_t original_length = 0;  // trained context length in tokens (yarn, llama3)
  double low_frequency_factor = 1, high_frequency_factor = 4;  // llama3
  double beta_fast = 32, beta_slow = 1;                        // yarn
  bool truncate = true;  // yarn: round the ramp's bounds to whole dimensions
  double gain = 0;       // yarn: factor of cos and sin; 0: 0.1·ln(factor) + 1
  /// yarn: divide all frequencies by the factor, as when no pair rotates beta_slow times within the original
  /// length. There transformers' ramp runs backwards; false keeps it, for models trained with it.
  bool divide_all = false;
};

/// The d/2 rotation angles per position.
std::vector<double> rotary_frequencies(const RotaryScaling& scaling, int64_t head_width);
/// Factor of cos and sin; 1 except for yarn.
double rotary_gain(const RotaryScaling& scaling);
/// Whether the frequencies depend on `original_length`: yarn, llama3.
bool compares_lengths(const RotaryScaling& scaling);

/// Scaling for one level of positions (blocks, or cells of a mode): sequences of the original length have
/// `original` of them, sequences `factor` times as long have `extended`. yarn and llama3 compare wavelengths
/// with a length, so they use `original` as the length and extended / original as the factor: no scaling if
/// both are equal, all frequencies divided if `original` is too short for yarn's ramp. The other kinds do not
/// depend on a length and stay unchanged.
RotaryScaling level_scaling(const RotaryScaling& scaling, int64_t original, int64_t extended);

/// One row of frequencies per level (0: token positions; l: block indices), each with its own scaling.
ops::RotaryEmbedding rotary_embedding(const std::vector<RotaryScaling>& levels, int64_t head_width);

}  // namespace modewise::nn
