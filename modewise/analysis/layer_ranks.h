#pragma once
// Stable ranks of a model's attention per layer and head: of each mode's matrix, of their Kronecker product
// and Kronecker sum over all tokens, and of full attention matrices (Higher-Order Transformers, section
// 5.4.1).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "modewise/models/attention_view.h"

namespace modewise::analysis {

/// Means over the samples, one value per head.
struct LayerRanks {
  std::vector<int64_t> modes;                // token modes that have a matrix
  std::vector<std::vector<double>> by_mode;  // [modes][heads]
  std::vector<double> product, sum;          // [heads]; empty without factors
  std::vector<double> full;                  // [heads]; empty without a matrix over all tokens
};

/// One entry per layer with factors or full matrices.
std::vector<LayerRanks> layer_ranks(const models::AttentionView& attention);

}  // namespace modewise::analysis
