#pragma once
// Self-attention of an encoder's sequence by ops::tensor_attention: the sequence folded into a tensor
// (Tensorized Attention, section 3), or attended whole.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "modewise/nn/attention.h"
#include "modewise/nn/linear.h"
#include "modewise/ops/tensor_attention.h"

namespace modewise::nn {

class FoldedAttention : public Attention {
 public:
  /// `slots`: latents a block (form causal, two modes at least), drawn at random.
  FoldedAttention(Initializer& init, int64_t width, int64_t heads, int64_t slots,
                  ops::TensorAttentionOptions options);

  /// x [B, n, D], mask [B, n] bool (true: valid) or none, which form `pooled` needs -> [B, n, D]. A token
  /// that is not valid is attended by none that is.
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

}  // namespace modewise::nn
