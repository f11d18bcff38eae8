#include "modewise/nn/attention/attention_registry.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cctype>

#include "modewise/core/aliases.h"
#include "modewise/nn/attention/synthesizer_attention.h"

namespace modewise::nn {
namespace {

using Made = std::shared_ptr<Attention>;
using Source = std::shared_ptr<LogitSource>;

FactorShapes factor_shapes(const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return options.shapes.rows.empty() ? balanced_factors(shape.rows(), shape.columns(), options.factors)
                                     : options.shapes;
}

Made synthesizer(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options,
                 std::vector<Source> sources) {
  return std::make_shared<SynthesizerAttention>(init, shape, std::move(sources), options.causal);
}

Made dot_product(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return std::make_shared<TokenAttention>(
      init, shape.width, shape.heads,
      TokenAttentionOptions{.query_key_norm = false, .causal = options.causal});
}

Made linformer(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  const int64_t projected =
      options.projected > 0 ? options.projected : std::max<int64_t>(shape.columns() / 4, 1);
  return std::make_shared<LinformerAttention>(init, shape, projected);
}

Made dense(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return synthesizer(init, shape, options, {make_dense_logits(init, shape)});
}

template <ReducedAxis kAxis>
Made tensor(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return synthesizer(init, shape, options, {make_tensor_logits(init, shape, kAxis)});
}

Made additive(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  std::vector<Source> sources;
  for (const ReducedAxis axis : {ReducedAxis::height, ReducedAxis::width, ReducedAxis::channel})
    sources.push_back(make_tensor_logits(init, shape, axis));
  return synthesizer(init, shape, options, std::move(sources));
}

template <bool kLearned>
Made random(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return synthesizer(init, shape, options, {make_random_logits(init, shape, kLearned)});
}

Made factorized_dense(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return synthesizer(init, shape, options,
                     {make_tensor_logits(init, shape, ReducedAxis::channel, options.factors)});
}

Made factorized_random(Initializer& init, const SynthesizerShape& shape,
                       const AttentionTypeOptions& options) {
  return synthesizer(init, shape, options,
                     {make_factorized_logits(init, shape, factor_shapes(shape, options))});
}

Made product_random(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return std::make_shared<FactorProductAttention>(init, shape, factor_shapes(shape, options));
}

Made mixture(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  std::vector<Source> sources = {make_tensor_logits(init, shape, ReducedAxis::channel),
                                 make_factorized_logits(init, shape, factor_shapes(shape, options))};
  return synthesizer(init, shape, options, {make_mixed_logits(std::move(sources))});
}

Made causal_mixture(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  std::vector<Source> sources = {make_dense_logits(init, shape),
                                 make_factorized_logits(init, shape, factor_shapes(shape, options))};
  return synthesizer(init, shape, options, {make_mixed_logits(std::move(sources))});
}

Made printed_mixture(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return std::make_shared<PrintedMixtureAttention>(
      init, shape, make_tensor_logits(init, shape, ReducedAxis::channel, options.factors),
      make_factorized_logits(init, shape, factor_shapes(shape, options)));
}

template <ops::Combine kCombine>
Made kronecker(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions&) {
  ops::KroneckerAttentionOptions options;
  options.heads = shape.heads;
  options.combine = kCombine;
  return std::make_shared<KroneckerAttention>(init, shape.width, static_cast<int64_t>(shape.sizes.size()),
                                              true, 0, options);
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

}  // namespace

std::span<const AttentionEntry> attention_entries() {
  static const AttentionEntry forms[] = {
      {"dot-product", "CT", "softmax(Q Kᵀ / √d) V", true, true, dot_product},
      {"linformer", "CL", "softmax attention with keys and values projected to fewer", false, true,
       linformer},
      {"dense", "SD", "two linear layers map each token to its row of logits (Tay et al.)", true, true,
       dense},
      {"stt", "STT", "mode products of the feature map, channels reduced", false, false,
       tensor<ReducedAxis::channel>},
      {"tensor-height", "STTH", "mode products of the feature map, height reduced", false, false,
       tensor<ReducedAxis::height>},
      {"tensor-width", "STTW", "mode products of the feature map, width reduced", false, false,
       tensor<ReducedAxis::width>},
      {"additive", "", "sum of tensor, tensor-height and tensor-width", false, false, additive},
      {"random", "SR", "a learned matrix, the same for all samples", true, true, random<true>, false},
      {"random-fixed", "", "a fixed random matrix", true, true, random<false>, false},
      {"factorized-dense", "FSD", "tensor with Kronecker-factorized matrices", false, false,
       factorized_dense},
      {"factorized-random", "FSR", "softmax of a Kronecker product of small learned matrices", true, true,
       factorized_random, false},
      {"product-random", "", "Kronecker product of small softmax matrices", false, false, product_random,
       false},
      {"mixture", "MS", "tensor and factorized-random mixed before the softmax", false, false, mixture},
      {"mixture-dense", "", "dense and factorized-random mixed before the softmax", true, true,
       causal_mixture},
      {"mixture-printed", "", "Eq. 20 as printed: probabilities mixed with logits", false, false,
       printed_mixture},
      {"kronecker", "", "Kronecker product of one softmax matrix per mode (HOT)", false, false,
       kronecker<ops::Combine::product>},
      {"kronecker-sum", "", "mean Kronecker sum of one softmax matrix per mode", false, false,
       kronecker<ops::Combine::mean>},
  };
  return forms;
}

const AttentionEntry* find_attention_entry(std::string_view name) {
  const auto forms = attention_entries();
  const std::string current = current_attention(std::string(name));
  const auto found = std::find_if(forms.begin(), forms.end(), [&](const AttentionEntry& type) {
    return same_word(type.name, current) || (!type.code.empty() && same_word(type.code, current));
  });
  return found == forms.end() ? nullptr : &*found;
}

std::shared_ptr<Attention> make_attention(Initializer& init, std::string_view name,
                                          const SynthesizerShape& shape,
                                          const AttentionTypeOptions& options) {
  const AttentionEntry* type = find_attention_entry(name);
  TORCH_CHECK_VALUE(type != nullptr, "unknown attention '", name, "'");
  TORCH_CHECK_VALUE(!options.causal || type->causal, "attention '", type->name,
                    "' cannot be causal: each of its rows depends on every token");
  TORCH_CHECK_VALUE(
      shape.columns() == shape.rows() || type->rectangular, "attention '", type->name,
      "' has no cross-attention: its definition has one feature map, so as many keys as tokens");
  TORCH_CHECK_VALUE(shape.width % shape.heads == 0, "attention '", type->name, "': heads = ", shape.heads,
                    " must divide the width ", shape.width);
  return type->make(init, shape, options);
}

}  // namespace modewise::nn
