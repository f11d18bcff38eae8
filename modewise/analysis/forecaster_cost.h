#pragma once
// What a forecaster costs, by formula from its options and sizes, without building it.
//
// A multiply-add is one product and one sum, as papers' "GFLOPS" count them: of matrix products, and one for
// each element of a normalisation's scale and of a gate. Softmax, rotary codes, additions alone and dropout
// count nothing. N tokens of N_1 × … × N_k, width D, H heads of width d, feed-forward M, L lookback, P
// patches.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/models/forecaster.h"
#include "modewise/models/model_config.h"

namespace modewise::analysis {

struct CostPart {
  std::string
      name;  // "embedding", "query and key", "value and output", "factors", "feed-forward", "norms", "head" …
  int64_t parameters = 0;
  double multiply_adds = 0;  // forward pass of one sample
};

struct ForecasterCost {
  std::vector<int64_t> tokens;  // N_1 … N_k; empty for models without tokens
  std::vector<CostPart> parts;  // of all blocks together
  /// Elements of the activations that a training step keeps of one sample for its backward pass, × their
  /// width.
  double activation_bytes = 0;

  int64_t parameters() const;
  double multiply_adds() const;
};

/// Where queries and keys of Kronecker attention are projected: on pooled tokens (ours; the same function) or
/// on all of them, as the released code does.
enum class Projection { pooled, full };

/// Config errors as models::validate gives them.
ForecasterCost forecaster_cost(const models::ModelConfig& config, const models::ForecastShape& shape,
                               Projection projection = Projection::pooled);

}  // namespace modewise::analysis
