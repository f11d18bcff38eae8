#pragma once
// Bidirectional self-attention over a sequence: full, folded into a tensor (Tensorized Attention, section 3),
// sparse, or low-rank. All types share the same four projections, so that weights trained with one type load
// into any other.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/nn/attention/attention.h"
#include "modewise/nn/layers/linear.h"
#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/attention/weighted_values.h"

namespace modewise::nn {

struct SequenceAttentionOptions {
  int64_t width = 0;   // D
  int64_t heads = 1;   // H, divides D
  int64_t tokens = 0;  // longest sequence; columns of linformer's projections
  bool bias = true;    // of query_proj, key_proj, value_proj and out_proj
  double dropout = 0;  // of the attention weights, for types that form them

  std::string type = "full";            // one of sequence_constructors()
  std::vector<int64_t> fold = {};       // as for ops::tensor_attention
  int64_t modes = 0;                    // axial: number of last modes of the fold; 0: all
  int64_t window = 0;                   // window: tokens around; summary: last tokens
  int64_t summary_tokens = 1;           // summary: summary tokens per block, drawn at random
  double density = 0.1;                 // random, topk, window (if window = 0): fraction of tokens attended
  ops::AttentionOptionValues own = {};  // of single types
};

/// Module and cost of the type of that name in ops::attention_types().
struct SequenceConstructor {
  std::string_view name;
  std::shared_ptr<Attention> (*make)(Initializer& init, const SequenceAttentionOptions& options) = nullptr;
  /// Parameters besides the four projections; null: none.
  int64_t (*learned)(const SequenceAttentionOptions& options) = nullptr;
  /// Multiply-adds besides projections, logits and mixing; null: none.
  double (*beside)(const SequenceAttentionOptions& options, int64_t n) = nullptr;
};

std::span<const SequenceConstructor> sequence_constructors();
/// Throws a ValueError for an unknown name.
const SequenceConstructor& sequence_constructor(std::string_view name);

/// x [B, n, D], padding mask [B, n] bool (true: valid) or none -> [B, n, D]. Values at padding do not change
/// the result of valid tokens. A sample without valid tokens has no result: models reject it at their input,
/// where the check synchronizes the device once instead of once per layer.
class SequenceAttention : public Attention {
 public:
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;

 protected:
  /// Split into heads, [B, n, H, d]; k is undefined where queries are also the keys.
  struct Tokens {
    at::Tensor q, k, v;
    std::optional<at::Tensor> mask;
  };
  SequenceAttention(Initializer& init, const SequenceAttentionOptions& options);
  /// Mixes the values: [B, n, H, e] -> [B, n, H, e], linear in them.
  virtual at::Tensor mixed(const Tokens& tokens) const = 0;
  /// Softmax and dropout of the attention weights as active now.
  ops::SoftmaxOptions softmax_options() const;

 private:
  Tokens tokens_of(const at::Tensor& x, const std::optional<at::Tensor>& mask) const;

  int64_t heads_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  std::shared_ptr<Dropout> dropout_;
};

/// For SequenceConstructor::make.
template <class Type>
std::shared_ptr<Attention> make_sequence_type(Initializer& init, const SequenceAttentionOptions& options) {
  return std::make_shared<Type>(init, options);
}

/// Builds the attention type named in `options`. All have query_proj, key_proj, value_proj and out_proj,
/// except reformer, whose queries are also its keys: no key_proj. Throws a ValueError for inconsistent
/// options.
std::shared_ptr<Attention> make_sequence_attention(Initializer& init,
                                                   const SequenceAttentionOptions& options);

/// Attention weights (query-key pairs) that one head computes over n tokens: ops::compared_pairs.
double compared_pairs(const SequenceAttentionOptions& options, int64_t n);
/// The fraction of the n² weights of full attention that the type computes.
double weight_share(const SequenceAttentionOptions& options, int64_t n);

}  // namespace modewise::nn
