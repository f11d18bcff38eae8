#pragma once
// The zoo of attention forms by name (arXiv 2201.01410, Table 1, and their neighbours here), a row a form:
// what it can do, and how it is made. Any model whose tokens are [B, N_1 … N_k, D] can take any of them.

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
  int64_t factors = 2;    // Kronecker factors of each matrix of the factorized forms
  FactorShapes shapes{};  // of factorized random and product random; empty: balanced
  int64_t projected = 0;  // Linformer's K; 0: a quarter of the keys
};

struct AttentionEntry {
  std::string_view name;
  std::string_view code;     // in Table 1, "" for forms that it has not
  std::string_view summary;  // for help and docs
  /// Row i before its softmax is made from token i (or from none) and one key at a time, so that a mask of
  /// later tokens makes it causal.
  bool causal = false;
  /// Keys may be other tokens than those that ask.
  bool rectangular = false;
  std::shared_ptr<Attention> (*make)(Initializer& init, const SynthesizerShape& shape,
                                     const AttentionTypeOptions& options) = nullptr;
  /// Whether the weights depend on the tokens that ask; if not, a norm of those alone would learn nothing.
  bool reads_tokens = true;
};

std::span<const AttentionEntry> attention_entries();
/// By name or code, of any case; nullptr for others.
const AttentionEntry* find_attention_entry(std::string_view name);
/// Throws a ValueError for a name that is none, and for causal or rectangular use of a form that cannot be
/// so: the reason is in it.
std::shared_ptr<Attention> make_attention(Initializer& init, std::string_view name,
                                              const SynthesizerShape& shape, const AttentionTypeOptions& options = {});

}  // namespace modewise::nn
