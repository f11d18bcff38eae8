#pragma once
// Attention registry: attention types by name (arXiv 2201.01410, Table 1, and related ones), each with its
// properties and factory. Models with tokens [B, N_1 … N_k, D] accept any of them.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/nn/attention/attention.h"
#include "modewise/nn/attention/synthesizer_logits.h"

namespace modewise::nn {

struct AttentionTypeOptions {
  bool causal = false;
  int64_t factors = 2;    // Kronecker factors per matrix of the factorized types
  FactorShapes shapes{};  // factorized-random, product-random; empty: balanced
  int64_t projected = 0;  // linformer: projected length K; 0: a quarter of the keys
};

struct AttentionEntry {
  std::string_view name;
  std::string_view code;     // in Table 1; "" for types that are not in it
  std::string_view summary;  // for help and docs
  /// Logits of row i depend on token i (or on none) and one key at a time, so a causal mask makes the type
  /// causal.
  bool causal = false;
  /// Supports cross-attention: keys may come from other tokens than the queries.
  bool rectangular = false;
  std::shared_ptr<Attention> (*make)(Initializer& init, const SynthesizerShape& shape,
                                     const AttentionTypeOptions& options) = nullptr;
  /// Multiply-adds of one sample (conventions in nn/layers/cost.h), without value and output projections.
  double (*multiply_adds)(const SynthesizerShape& shape, const AttentionTypeOptions& options) = nullptr;
  /// Whether the weights depend on the query tokens; if not, a norm on the queries alone would learn nothing.
  bool reads_tokens = true;
};

std::span<const AttentionEntry> attention_entries();
/// Looks a type up by name or code, case-insensitive; nullptr when unknown.
const AttentionEntry* find_attention_entry(std::string_view name);
/// Throws a ValueError, with the reason, for an unknown name and for causal use or cross-attention of a type
/// that does not support it.
std::shared_ptr<Attention> make_attention(Initializer& init, std::string_view name,
                                          const SynthesizerShape& shape,
                                          const AttentionTypeOptions& options = {});

}  // namespace modewise::nn
