#pragma once
// What a model attends to, whatever kind of model it is.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::models {

/// The attention factors of one layer.
struct ModeMaps {
  std::vector<int64_t> modes;       // token mode of each factor; of forecasters the last mode is time
  std::vector<at::Tensor> factors;  // S_i [B, heads, N_i, N_i], rows sum to 1
};

/// The attention of one batch. A layer has factors or a matrix over all tokens; models that have neither,
/// such as pooled attention and convolutions, have no layers here.
struct AttentionView {
  std::vector<int64_t> sizes;  // N_1 … N_k of the token tensor; empty for models without tokens
  std::vector<ModeMaps> maps;  // one entry a layer
  /// [B, heads, N, N] a layer: what the values are multiplied with. Rows sum to 1 where one softmax makes
  /// them; those of projected or approximated forms (Linformer, Nyströmformer) may be of either sign and sum.
  std::vector<at::Tensor> full;
};

}  // namespace modewise::models
