#pragma once
// Token sampling: temperature, top-k and nucleus (top-p) sampling. Random numbers are counter-based: a choice
// depends only on the seed and the token's position.

#include <cstdint>
#include <span>

#include "modewise/core/fields.h"

namespace modewise::models {

struct SamplingConfig {
  double temperature = 1;  // 0: greedy decoding
  int64_t top_k = 0;       // only the k most likely tokens; 0: all
  double top_p =
      1;  // nucleus sampling: then the most likely tokens with this total probability, at least one
  int64_t seed = 0;
  void fields(Fields& fields);
  void validate() const;  // usage errors
};

/// Samples a token from logits [V] for position `position` of the text. Ties go to the lower id. Data error
/// if a logit is NaN or all are −∞.
int64_t sample_token(std::span<const float> logits, const SamplingConfig& config, uint64_t position);

}  // namespace modewise::models
