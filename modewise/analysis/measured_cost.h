#pragma once
// What blocks of attention take on this machine: seconds and bytes a sample, in training and in inference
// (the paper's Figure 7), and how the time grows with the number of tokens.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/models/encoder_config.h"

namespace modewise::analysis {

struct MeasuredCost {
  double inference_seconds = 0, training_seconds = 0;  // a sample: the median of the repeats
  /// The most bytes of tensors alive at once beyond those there before, a sample; training: weights'
  /// gradients too.
  double inference_bytes = 0, training_bytes = 0;
  int64_t repeats = 0;
};

/// Runs the position codes and blocks of models::TokenEncoder on random tokens [batch, N_1 … N_k, D] after
/// one run to warm up: forward without gradients, and forward with backward of the mean square. No more than
/// `repeats` of each, fewer once `seconds` have gone.
MeasuredCost measure_encoder(const models::EncoderConfig& config, const std::string& mechanism,
                             const models::TokenShape& tokens, int64_t batch, int64_t repeats,
                             double seconds);

/// The slope of log y over log x by least squares: y ∝ x^slope. NaN for fewer than two points.
double growth_exponent(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace modewise::analysis
