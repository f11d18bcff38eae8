#pragma once
// Frequencies of rotary codes, and the ways to stretch them for texts longer than those trained on. The
// formulas are those of Hugging Face transformers, so that its models mean the same here.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/ops/tensor_attention.h"

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
};

/// The d/2 angles a position turns by.
std::vector<double> rotary_frequencies(const RotaryScaling& scaling, int64_t head_width);
/// What cos and sin are multiplied by: 1 but for yarn.
double rotary_gain(const RotaryScaling& scaling);

/// One row of frequencies a level (0: token positions; l: block indices). `scaled_level` −1 scales every
/// level, else that one alone: tensor attention that grows along its first mode has to stretch no other.
ops::RotaryCode rotary_code(const RotaryScaling& scaling, int64_t head_width, int64_t levels = 1,
                            int64_t scaled_level = -1);

}  // namespace modewise::nn
