#include "modewise/nn/attention/grid_attention.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <numeric>

#include "modewise/nn/attention/synthesizer_attention.h"
#include "modewise/ops/attention/attention_types.h"

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

int64_t projected_length(const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return options.projected > 0 ? options.projected : std::max<int64_t>(shape.columns() / 4, 1);
}

Made linformer(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return std::make_shared<LinformerAttention>(init, shape, projected_length(shape, options));
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

/// The sizes of multiply-adds: n query tokens, m keys, width d, heads.
struct AttentionSizes {
  explicit AttentionSizes(const SynthesizerShape& shape)
      : n(static_cast<double>(shape.rows())),
        m(static_cast<double>(shape.columns())),
        d(static_cast<double>(shape.width)),
        heads(static_cast<double>(shape.heads)) {}
  double projections() const { return (n + m) * d * d; }

  double n, m, d, heads;
};

double count_dot_product(const SynthesizerShape& shape, const AttentionTypeOptions&) {
  const AttentionSizes s(shape);
  return s.projections() + 2 * s.n * s.m * s.d;
}

double count_linformer(const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  const AttentionSizes s(shape);
  const auto projected = static_cast<double>(projected_length(shape, options));
  return s.projections() + 2 * projected * s.m * s.d + 2 * s.n * projected * s.d;
}

double dense_logits(const SynthesizerShape& shape, const AttentionTypeOptions&) {
  const AttentionSizes s(shape);
  return s.n * s.d * s.d + s.n * s.m * (s.d + s.heads);
}

/// X times a vector along the reduced axis, the product with the rows' matrix, and the products with the
/// columns' matrix.
template <ReducedAxis kAxis>
double tensor_logits(const SynthesizerShape& shape, const AttentionTypeOptions&) {
  const AttentionSizes s(shape);
  const auto last = static_cast<double>(shape.last());
  const double rows = kAxis == ReducedAxis::height ? last : s.n / last,
               columns = kAxis == ReducedAxis::channel ? last : s.d;
  return s.heads * (s.n * s.d + s.n * rows * columns + s.n * s.n * columns);
}

/// The sum of three softmaxes mixes the values twice more.
double additive_mixing(const SynthesizerShape& shape, const AttentionTypeOptions&) {
  const AttentionSizes s(shape);
  return 2 * s.n * s.m * s.d;
}

double factorized_logits(const SynthesizerShape& shape, const AttentionTypeOptions&) {
  const AttentionSizes s(shape);
  return s.heads * s.n * s.m;
}

/// The logits of a synthesizer and the mixing of the values.
template <auto... kLogits>
double count_synthesizer(const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  const AttentionSizes s(shape);
  return (0.0 + ... + kLogits(shape, options)) + s.n * s.m * s.d;
}

double count_product_random(const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  const AttentionSizes s(shape);
  const std::vector<int64_t> rows = factor_shapes(shape, options).rows;
  return s.n * static_cast<double>(std::accumulate(rows.begin(), rows.end(), int64_t{0})) * s.d;
}

/// Queries and keys of pooled tokens, scores and mode product of each mode.
double count_kronecker(const SynthesizerShape& shape, const AttentionTypeOptions&) {
  const AttentionSizes s(shape);
  double sum = 0;
  for (const int64_t size : shape.sizes) {
    const auto n = static_cast<double>(size);
    sum += 2 * n * s.d * s.d + n * n * s.d + n * s.n * s.d;
  }
  return sum;
}

/// The row of the type in the table; throws for an unknown name.
const ops::AttentionType& grid_type(std::string_view name) {
  const ops::AttentionType* type = ops::find_attention_type(name, ops::TokenLayout::grid);
  TORCH_CHECK_VALUE(type != nullptr, "unknown attention '", name, "'");
  return *type;
}

}  // namespace

std::span<const GridConstructor> grid_constructors() {
  static constexpr GridConstructor list[] = {
      {"dot-product", dot_product, count_dot_product},
      {"linformer", linformer, count_linformer},
      {"dense", dense, count_synthesizer<dense_logits>},
      {"stt", tensor<ReducedAxis::channel>, count_synthesizer<tensor_logits<ReducedAxis::channel>>},
      {"tensor-height", tensor<ReducedAxis::height>, count_synthesizer<tensor_logits<ReducedAxis::height>>},
      {"tensor-width", tensor<ReducedAxis::width>, count_synthesizer<tensor_logits<ReducedAxis::width>>},
      {"additive", additive,
       count_synthesizer<tensor_logits<ReducedAxis::height>, tensor_logits<ReducedAxis::width>,
                         tensor_logits<ReducedAxis::channel>, additive_mixing>},
      {"random", random<true>, count_synthesizer<>},
      {"random-fixed", random<false>, count_synthesizer<>},
      {"factorized-dense", factorized_dense, count_synthesizer<tensor_logits<ReducedAxis::channel>>},
      {"factorized-random", factorized_random, count_synthesizer<factorized_logits>},
      {"product-random", product_random, count_product_random},
      {"mixture", mixture, count_synthesizer<tensor_logits<ReducedAxis::channel>, factorized_logits>},
      {"mixture-dense", causal_mixture, count_synthesizer<dense_logits, factorized_logits>},
      {"mixture-printed", printed_mixture,
       count_synthesizer<tensor_logits<ReducedAxis::channel>, factorized_logits>},
      {"kronecker", kronecker<ops::Combine::product>, count_kronecker},
      {"kronecker-sum", kronecker<ops::Combine::mean>, count_kronecker},
  };
  return list;
}

const GridConstructor& grid_constructor(std::string_view name) {
  return *std::ranges::find(grid_constructors(), grid_type(name).name, &GridConstructor::name);
}

std::shared_ptr<Attention> make_attention(Initializer& init, std::string_view name,
                                          const SynthesizerShape& shape,
                                          const AttentionTypeOptions& options) {
  const ops::AttentionType& type = grid_type(name);
  TORCH_CHECK_VALUE(!options.causal || type.causal, "attention '", type.name,
                    "' cannot be causal: each of its rows depends on every token");
  TORCH_CHECK_VALUE(
      shape.columns() == shape.rows() || type.cross_attention, "attention '", type.name,
      "' has no cross-attention: its definition has one feature map, so as many keys as tokens");
  TORCH_CHECK_VALUE(shape.width % shape.heads == 0, "attention '", type.name, "': heads = ", shape.heads,
                    " must divide the width ", shape.width);
  return grid_constructor(type.name).make(init, shape, options);
}

}  // namespace modewise::nn
