#pragma once
// Which token comes next. Random numbers are counter-based: a choice depends on the seed and the token's
// position alone, not on what was drawn before.

#include <cstdint>
#include <span>

#include "modewise/core/fields.h"

namespace modewise::models {

struct SamplingConfig {
  double temperature = 1;  // 0: the likeliest token
  int64_t top_k = 0;       // only the k likeliest; 0: all
  double top_p = 1;        // then only the likeliest that make up this share; at least one
  int64_t seed = 0;
  void fields(Fields& fields);
  void validate() const;  // usage errors
};

/// The token chosen from logits [V] for the text's place `position`. Equal logits go by the lower number.
/// Throws a data error when a logit is NaN or all are −∞.
int64_t sample_token(std::span<const float> logits, const SamplingConfig& config, uint64_t position);

}  // namespace modewise::models
