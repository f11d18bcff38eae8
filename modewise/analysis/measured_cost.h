#pragma once
// Measured cost of attention blocks and whole classifiers on this machine: seconds and bytes per sample, in
// training and inference (the paper's Figure 7), and the growth of time with the number of tokens.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/models/encoder_config.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"

namespace modewise::analysis {

struct MeasuredCost {
  double inference_seconds = 0, training_seconds = 0;  // per sample, median of the repeats
  /// Peak bytes of newly allocated tensors, per sample; in training including the weights' gradients.
  double inference_bytes = 0, training_bytes = 0;
  int64_t repeats = 0;
};

/// Runs position embeddings and blocks of models::TokenEncoder on random tokens [batch, N_1 … N_k, D] after
/// one warm-up run: forward without gradients, and forward with backward of the mean square. At most
/// `repeats` of each, fewer after `seconds`.
MeasuredCost measure_encoder(const models::EncoderConfig& config, const std::string& mechanism,
                             const models::TokenShape& tokens, int64_t batch, int64_t repeats,
                             double seconds);

/// The same for a whole classifier on random samples [batch, N_1 … N_k, C] of `shape`. Config error for
/// settings that do not fit the shape.
MeasuredCost measure_classifier(const models::VisionModelConfig& config, const models::VisionShape& shape,
                                int64_t batch, int64_t repeats, double seconds);

/// Least-squares slope of log y over log x: y ∝ x^slope. NaN for fewer than two points.
double growth_exponent(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace modewise::analysis
