#pragma once
// Stable ranks of a model's attention, layer by layer and head by head: of each mode's matrix, of the product
// and the sum that they make over all tokens, and of attention between all tokens (Higher-Order Transformers,
// section 5.4.1).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/models/attention_view.h"

namespace modewise::analysis {

/// Means over the samples; one number a head.
struct LayerRanks {
  std::vector<int64_t> modes;                // token modes that have a matrix
  std::vector<std::vector<double>> by_mode;  // [modes][heads]
  std::vector<double> product, sum;          // [heads]; empty without factors
  std::vector<double> full;                  // [heads]; empty without a matrix over all tokens
};

/// One entry a layer of factors, or of matrices over all tokens.
std::vector<LayerRanks> layer_ranks(const models::AttentionView& attention);

}  // namespace modewise::analysis
