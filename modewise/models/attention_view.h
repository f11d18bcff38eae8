#pragma once
// Attention maps of a model, common to all model families.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::models {

/// The Kronecker factors of one layer's attention.
struct ModeMaps {
  std::vector<int64_t> modes;       // token mode of each factor; in forecasters the last mode is time
  std::vector<at::Tensor> factors;  // S_i [B, heads, N_i, N_i], rows sum to 1
};

/// Attention maps of one batch. A layer has factors or a full matrix over all tokens; models with neither,
/// such as pooling attention and convolutions, have no layers here.
struct AttentionView {
  std::vector<int64_t> sizes;  // N_1 … N_k of the token tensor; empty for models without tokens
  std::vector<ModeMaps> maps;  // one entry per layer
  /// [B, heads, N, N] per layer: the matrix applied to the values. Softmax rows sum to 1; rows of projected
  /// or approximate attention (Linformer, Nyströmformer) may have any sign and sum.
  std::vector<at::Tensor> full;

  AttentionView to(at::Device device) const {
    AttentionView out = *this;
    for (ModeMaps& layer : out.maps)
      for (at::Tensor& factor : layer.factors) factor = factor.to(device);
    for (at::Tensor& matrix : out.full) matrix = matrix.to(device);
    return out;
  }
};

}  // namespace modewise::models
