#pragma once
// Attention over tokens [B, N_1 … N_k, D] by type (ops/attention/attention_types.h): the synthesizers of
// arXiv 2201.01410 and related types. Models with such tokens accept any of them.

#include <cstdint>
#include <initializer_list>
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
  std::vector<std::string>
      mixture{};  // mixture, mixture-dense: types whose logits are mixed (mixable_types);
                  //   empty: stt, or dense, and factorized-random
};

/// Module and cost of the type of that name in ops::attention_types(ops::TokenLayout::grid).
struct GridConstructor {
  std::string_view name;
  std::shared_ptr<Attention> (*make)(Initializer& init, const SynthesizerShape& shape,
                                     const AttentionTypeOptions& options) = nullptr;
  /// Multiply-adds of one sample (conventions in nn/layers/cost.h), without value and output projections.
  double (*multiply_adds)(const SynthesizerShape& shape, const AttentionTypeOptions& options) = nullptr;
};

/// Types that `mixture` may name.
std::vector<std::string> mixable_types();
/// The error in the types `mixed` for attention types `names`, such as "must be two or more different types";
/// "": they are valid. Throws a ValueError for an unknown type.
std::string mixture_fault(std::initializer_list<std::string_view> names,
                          const std::vector<std::string>& mixed);

std::span<const GridConstructor> grid_constructors();
/// Throws a ValueError for an unknown name.
const GridConstructor& grid_constructor(std::string_view name);
/// Throws a ValueError, with the reason, for an unknown name and for causal use or cross-attention of a type
/// that does not support it.
std::shared_ptr<Attention> make_attention(Initializer& init, std::string_view name,
                                          const SynthesizerShape& shape,
                                          const AttentionTypeOptions& options = {});

}  // namespace modewise::nn
