#pragma once
// Token sampling: repetition penalty, temperature, top-k, nucleus (top-p) and min-p sampling, in this order,
// as in transformers. Random numbers are counter-based: a choice depends only on the seed and the token's
// position.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace modewise::models {

struct SamplingConfig {
  double temperature = 1;  // 0: greedy decoding
  int64_t top_k = 0;       // only the k most likely tokens; 0: all
  double top_p =
      1;  // nucleus sampling: then the most likely tokens with this total probability, at least one
  double min_p = 0;               // then the tokens with at least this share of the largest probability
  double repetition_penalty = 1;  // divides positive logits of earlier tokens, multiplies negative ones
  int64_t seed = 0;
  void validate() const;  // usage errors
  /// The options that have no effect at temperature 0, as "top-k 40"; empty for other temperatures.
  std::vector<std::string> idle_options() const;
};

/// Applies the repetition penalty of Keskar et al. 2019 (arXiv 1909.05858, section 4.1) to logits [V]: once
/// to each id of `earlier`, all of which are below V.
void penalize_repetition(std::span<float> logits, std::span<const int32_t> earlier, double penalty);

/// Samples a token from logits [V] for position `position` of the text. Ties go to the lower id. Data error
/// if a logit is NaN or all are −∞.
int64_t sample_token(std::span<const float> logits, const SamplingConfig& config, uint64_t position);

}  // namespace modewise::models
