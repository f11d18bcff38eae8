// Query-key pair counts of each attention type.

#include <algorithm>

#include "modewise/ops/attention/attention_type_parts.h"
#include "modewise/ops/attention/fold_levels.h"
#include "modewise/ops/attention/kronecker_attention.h"

namespace modewise::ops {

double matrix_pairs(const PairOptions& /*options*/, int64_t n) {
  return static_cast<double>(n) * static_cast<double>(n);
}

/// Each token with itself and earlier ones, or with all.
double token_pairs(const PairOptions& options, int64_t n) {
  if (!options.causal) return matrix_pairs(options, n);
  return static_cast<double>(n) * static_cast<double>(n + 1) / 2;
}

/// The window and the first tokens before it; a non-causal window computes the whole matrix.
double near_pairs(const PairOptions& options, int64_t n) {
  if (options.type == "window" && !options.causal) return matrix_pairs(options, n);
  const int64_t window = window_of(options, n),
                sinks = attention_type(options.type).sinks ? options.sinks : 0;
  double pairs = 0;
  for (int64_t token = 0; token < n; ++token) {
    const int64_t near = std::min(token + 1, window);
    pairs += static_cast<double>(near + std::min(sinks, token + 1 - near));
  }
  return pairs;
}

/// Every cell with its fibre along each attended mode, or with the earlier cells of the fibre.
double fibre_pairs(const PairOptions& options, int64_t n) {
  std::vector<int64_t> sizes = options.fold;
  int64_t rest = 1, cells = 1;
  for (size_t mode = 1; mode < sizes.size(); ++mode) rest *= sizes[mode];
  if (sizes.front() == 0) sizes.front() = (n + rest - 1) / rest;
  for (const int64_t size : sizes) cells *= size;
  const bool causal = options.causal && attention_type(options.type).causal;
  double pairs = 0;
  const size_t first = options.modes > 0 ? sizes.size() - static_cast<size_t>(options.modes) : 0;
  for (size_t mode = first; mode < sizes.size(); ++mode) {
    const auto size = static_cast<double>(sizes[mode]);
    pairs += static_cast<double>(cells) * (causal ? (size + 1) / 2 : size);
  }
  return pairs;
}

/// The window, the visible summary tokens, and the pairs that compute the summaries.
double summary_pairs(const PairOptions& options, int64_t n) {
  const int64_t summary_tokens = options.summary_tokens;
  double pairs = near_pairs(options, n);
  bool first = true;
  for (const FoldLevel& level : fold_levels(options.fold, n)) {
    for (int64_t token = 0; token < n; ++token)
      pairs += static_cast<double>(summary_tokens * (level.own(token) - level.group(token)));
    pairs +=
        static_cast<double>(level.finished * summary_tokens * level.children * (first ? 1 : summary_tokens));
    first = false;
  }
  return pairs;
}

double projected_pairs(const PairOptions& options, int64_t n) {
  return static_cast<double>(n) * static_cast<double>(options.projected);
}

double feature_pairs(const PairOptions& options, int64_t n) {
  return static_cast<double>(n) *
         static_cast<double>(linear_feature_count(options.head_width, options.features));
}

/// Tokens × landmarks, landmarks × landmarks, landmarks × tokens.
double landmark_pairs(const PairOptions& options, int64_t n) {
  const auto m = static_cast<double>(std::min(options.landmarks, n));
  return m * (2 * static_cast<double>(n) + m);
}

/// Each token of a chunk with its own chunk and the one before, in every round.
double bucket_pairs(const PairOptions& options, int64_t n) {
  const int64_t chunks = (n + options.chunk - 1) / options.chunk;
  return static_cast<double>(options.rounds) * static_cast<double>(chunks * options.chunk) *
         static_cast<double>(2 * options.chunk);
}

}  // namespace modewise::ops
