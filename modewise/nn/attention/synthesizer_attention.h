#pragma once
// Synthesizer attention (logits from nn/attention/synthesizer_logits.h), and related types that are not a
// single softmax of logits. All have value_proj and out_proj [D, D], as every attention here.

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "modewise/nn/attention/attention.h"
#include "modewise/nn/attention/synthesizer_logits.h"

namespace modewise::nn {

/// out_proj(Σ_s softmax(Z_s) V) over `sources`, usually one; three make the additive type (Eq. 14), whose
/// rows sum to 3. `causal`: token i attends to tokens j ≤ i; valid only where row i depends on token i alone.
class SynthesizerAttention : public Attention {
 public:
  SynthesizerAttention(Initializer& init, const SynthesizerShape& shape,
                       std::vector<std::shared_ptr<LogitSource>> sources, bool causal = false);

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  /// Cross-attention: logits from the tokens x, values from the memory.
  at::Tensor attend(const at::Tensor& x, const Memory& memory) override;
  at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  at::Tensor attend_matrix(const at::Tensor& x, const Memory& memory) override;
  /// Caches values only: a row of logits depends on no other token.
  at::Tensor step(const at::Tensor& x, TokenCache& cache) override;
  TokenCache remembered(const at::Tensor& tokens) override;
  at::Tensor attend_step(const at::Tensor& x, const TokenCache& memory, int64_t place) override;

 private:
  at::Tensor mixed(const at::Tensor& x, const at::Tensor& values, const std::optional<at::Tensor>& mask,
                   bool causal) const;

  int64_t heads_, rows_;
  bool causal_;
  std::vector<std::shared_ptr<LogitSource>> sources_;
  std::shared_ptr<Linear> value_, out_;
};

/// V ×_1 softmax(R_1) … ×_m softmax(R_m): the product of softmaxed factors, which equals the softmax of their
/// Kronecker sum, not of their Kronecker product. Costs N·ΣM_i multiply-adds per channel.
class FactorProductAttention : public Attention {
 public:
  /// Factors must be square: `shapes.rows` equals `shapes.columns`.
  FactorProductAttention(Initializer& init, const SynthesizerShape& shape, const FactorShapes& shapes);

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;

 private:
  /// Averages of values [B, N, H, d] over the valid tokens.
  at::Tensor mixed(const at::Tensor& values, const std::optional<at::Tensor>& mask) const;

  SynthesizerShape shape_;
  std::vector<int64_t> sizes_;
  std::vector<at::Tensor> factors_;  // [H, N_i, N_i]
  std::shared_ptr<Linear> value_, out_;
};

/// softmax(q (E k)ᵀ / √d) F v with learned E, F [K, N] over the tokens (Linformer: Wang et al. 2020).
class LinformerAttention : public Attention {
 public:
  LinformerAttention(Initializer& init, const SynthesizerShape& shape, int64_t projected);

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  at::Tensor attend(const at::Tensor& x, const Memory& memory) override;
  /// The projected keys and values.
  TokenCache remembered(const at::Tensor& tokens) override;
  at::Tensor attend_step(const at::Tensor& x, const TokenCache& memory, int64_t place) override;

 private:
  TokenCache projected(const Memory& memory) const;

  SynthesizerShape shape_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  at::Tensor key_map_, value_map_;  // [K, M]
};

/// softmax(θ_1 softmax(Z) + θ_2 R) V, Eq. 20 as printed: probabilities mixed with logits. It forms the inner
/// probabilities, N · N numbers per head and sample.
class PrintedMixtureAttention : public Attention {
 public:
  PrintedMixtureAttention(Initializer& init, const SynthesizerShape& shape,
                          std::shared_ptr<LogitSource> inner, std::shared_ptr<LogitSource> random);

  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;

 private:
  SynthesizerShape shape_;
  std::shared_ptr<LogitSource> inner_, random_;
  at::Tensor theta_;
  std::shared_ptr<Linear> value_, out_;
};

}  // namespace modewise::nn
