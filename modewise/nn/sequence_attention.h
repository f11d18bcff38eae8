#pragma once
// Self-attention of an encoder's sequence in any form of ops::tensor_attention: whole, folded into a tensor
// (Tensorized Attention, section 3), sparse, or of lower rank. All forms have the same four maps, so that
// the weights of a model trained with one serve any other.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "modewise/nn/attention.h"
#include "modewise/nn/linear.h"
#include "modewise/ops/tensor_attention.h"

namespace modewise::nn {

struct SequenceAttentionOptions {
  int64_t width = 0;      // D
  int64_t heads = 1;      // H, divides D
  int64_t tokens = 0;     // of the longest sequence; linformer has maps of so many columns
  int64_t slots = 1;      // causal: latents a block, drawn at random
  int64_t projected = 0;  // linformer: keys and values that the tokens' become; 0: a quarter of the tokens
  bool bias = true;       // of query_proj, key_proj, value_proj and out_proj
  double dropout = 0;     // of the weights, in forms that hold them
  ops::TensorAttentionOptions attention{};
};

class SequenceAttention : public Attention {
 public:
  SequenceAttention(Initializer& init, SequenceAttentionOptions options);

  /// x [B, n, D], mask [B, n] bool (true: valid) or none -> [B, n, D]. A token that is not valid is attended
  /// by none that is.
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;

 private:
  struct Compared {
    at::Tensor q, k, latents;  // with one more coordinate where a mask bars keys
  };
  Compared compared(const at::Tensor& x, const std::optional<at::Tensor>& mask) const;
  at::Tensor split(const Linear& layer, const at::Tensor& x) const;  // [B, n, H, d]

  int64_t heads_;
  ops::TensorAttentionOptions options_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  at::Tensor latents_;  // [m−1, H, slots, d]
};

/// Throws a ValueError for options that do not fit together.
std::shared_ptr<Attention> make_sequence_attention(Initializer& init,
                                                   const SequenceAttentionOptions& options);

}  // namespace modewise::nn
