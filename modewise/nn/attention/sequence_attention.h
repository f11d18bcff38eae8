#pragma once
// Self-attention of an encoder's sequence in any form: whole, folded into a tensor (Tensorized Attention,
// section 3), sparse, or of lower rank. All forms have the same four maps, so that the weights of a model
// trained with one serve any other.

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
#include "modewise/ops/attention/weighted_values.h"

namespace modewise::nn {

struct SequenceAttentionOptions {
  int64_t width = 0;   // D
  int64_t heads = 1;   // H, divides D
  int64_t tokens = 0;  // of the longest sequence; linformer has maps of so many columns
  bool bias = true;    // of query_proj, key_proj, value_proj and out_proj
  double dropout = 0;  // of the weights, in forms that hold them

  std::string form = "full";       // one of sequence_attention_entries()
  std::vector<int64_t> fold = {};  // as for ops::tensor_attention
  int64_t modes = 0;               // axial: along the last of the fold; 0: along all
  int64_t window = 0;              // window: tokens around; causal: last tokens
  int64_t slots = 1;               // causal: latents a block, drawn at random
  double density = 0.1;            // random, topk, and window where it is 0: share of the tokens seen
  int64_t projected = 0;           // linformer: keys that the tokens' become; 0: a quarter of the tokens
  int64_t landmarks = 64;          // nystroemformer
  int64_t kernel = 33;             // nystroemformer: of the values' convolution, odd; 0: without
  int64_t features = 0;            // performer: random features; 0: d⌈ln d⌉
  int64_t chunk = 64;              // reformer: tokens of a chunk, about half of a bucket
  int64_t rounds = 4;              // reformer: of hashing
};

/// A row a form: its options, and how it is made.
struct SequenceAttentionEntry {
  std::string_view name;
  std::string_view summary;  // for help
  // What of SequenceAttentionOptions acts on it.
  bool fold = false, modes = false, window = false, slots = false, density = false, projected = false,
       landmarks = false, features = false, hashes = false, dropout = true;
  std::shared_ptr<Attention> (*make)(Initializer& init, const SequenceAttentionOptions& options) = nullptr;
  /// Weights that one head computes over n tokens: queries compared with keys.
  double (*pairs)(const SequenceAttentionOptions& options, int64_t n) = nullptr;
  /// Numbers learned beside the four maps; null: none.
  int64_t (*learned)(const SequenceAttentionOptions& options) = nullptr;
  /// Multiply-adds beside the maps, logits and mixing; null: none.
  double (*beside)(const SequenceAttentionOptions& options, int64_t n) = nullptr;
  bool keys = true;  // whether there is a key_proj
};

std::span<const SequenceAttentionEntry> sequence_attention_entries();
/// nullptr for a name that no form has.
const SequenceAttentionEntry* find_sequence_attention(std::string_view name);

/// x [B, n, D], mask [B, n] bool (true: valid) or none -> [B, n, D]. Nothing under a token that is not
/// valid changes a valid one's result. A sample without valid tokens has no result: models refuse it at their
/// input, where it costs a device one look and not one a layer.
class SequenceAttention : public Attention {
 public:
  at::Tensor forward(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;
  at::Tensor full_matrix(const at::Tensor& x, const std::optional<at::Tensor>& mask) override;

 protected:
  /// In heads, [B, n, H, d]; k is undefined where queries are the keys.
  struct Tokens {
    at::Tensor q, k, v;
    std::optional<at::Tensor> mask;
  };
  /// `keys`: whether there is a key_proj.
  SequenceAttention(Initializer& init, const SequenceAttentionOptions& options, bool keys = true);
  /// [B, n, H, e] of values [B, n, H, e], in which it is linear.
  virtual at::Tensor mixed(const Tokens& tokens) const = 0;
  /// Of the weights, as it acts now.
  ops::SoftmaxOptions softmax_options() const;

 private:
  Tokens tokens_of(const at::Tensor& x, const std::optional<at::Tensor>& mask) const;

  int64_t heads_;
  std::shared_ptr<Linear> query_, key_, value_, out_;
  std::shared_ptr<Dropout> dropout_;
};

/// The form of that name. All have query_proj, key_proj, value_proj and out_proj, but for reformer, whose
/// queries are its keys: it has no key_proj. Throws a ValueError for options that do not fit together.
std::shared_ptr<Attention> make_sequence_attention(Initializer& init,
                                                   const SequenceAttentionOptions& options);

/// The share of the n² weights of full attention that the form computes.
double weight_share(const SequenceAttentionOptions& options, int64_t n);

}  // namespace modewise::nn
