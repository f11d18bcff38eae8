#include "modewise/nn/attention/grid_attention.h"

#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

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

Source dense_source(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions&) {
  return make_dense_logits(init, shape);
}

template <ReducedAxis kAxis>
Source tensor_source(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions&) {
  return make_tensor_logits(init, shape, kAxis);
}

template <bool kLearned>
Source random_source(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions&) {
  return make_random_logits(init, shape, kLearned);
}

Source factorized_dense_source(Initializer& init, const SynthesizerShape& shape,
                               const AttentionTypeOptions& options) {
  return make_tensor_logits(init, shape, ReducedAxis::channel, options.factors);
}

Source factorized_random_source(Initializer& init, const SynthesizerShape& shape,
                                const AttentionTypeOptions& options) {
  return make_factorized_logits(init, shape, factor_shapes(shape, options));
}

/// The synthesizer with one source of logits.
template <auto kSource>
Made single(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return synthesizer(init, shape, options, {kSource(init, shape, options)});
}

Made additive(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  std::vector<Source> sources;
  for (const ReducedAxis axis : {ReducedAxis::height, ReducedAxis::width, ReducedAxis::channel})
    sources.push_back(make_tensor_logits(init, shape, axis));
  return synthesizer(init, shape, options, std::move(sources));
}

Made product_random(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  return std::make_shared<FactorProductAttention>(init, shape, factor_shapes(shape, options));
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

/// A type that mixtures can mix.
struct MixedType {
  std::string_view name;
  Source (*make)(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options);
  double (*logits)(const SynthesizerShape& shape, const AttentionTypeOptions& options);
};

double no_logits(const SynthesizerShape&, const AttentionTypeOptions&) {
  return 0;
}

constexpr MixedType kMixedTypes[] = {
    {"dense", dense_source, dense_logits},
    {"stt", tensor_source<ReducedAxis::channel>, tensor_logits<ReducedAxis::channel>},
    {"tensor-height", tensor_source<ReducedAxis::height>, tensor_logits<ReducedAxis::height>},
    {"tensor-width", tensor_source<ReducedAxis::width>, tensor_logits<ReducedAxis::width>},
    {"random", random_source<true>, no_logits},
    {"random-fixed", random_source<false>, no_logits},
    {"factorized-dense", factorized_dense_source, tensor_logits<ReducedAxis::channel>},
    {"factorized-random", factorized_random_source, factorized_logits},
};

bool mixes(std::string_view name) {
  return name == "mixture" || name == "mixture-dense";
}

/// The types that options.mixture names, or `standard` and factorized-random.
std::vector<const MixedType*> mixed_types(const AttentionTypeOptions& options, const char* standard) {
  std::vector<std::string> names = options.mixture;
  if (names.empty()) names = {standard, "factorized-random"};
  std::vector<const MixedType*> types;
  for (const std::string& name : names) {
    const MixedType* type = std::ranges::find(kMixedTypes, name, &MixedType::name);
    TORCH_CHECK_VALUE(type != std::end(kMixedTypes), "a mixture has no type '", name, "'");
    types.push_back(type);
  }
  return types;
}

constexpr const char* kTensor = "stt";
constexpr const char* kDense = "dense";

template <auto& kStandard>
Made mixture(Initializer& init, const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  std::vector<Source> sources;
  for (const MixedType* type : mixed_types(options, kStandard))
    sources.push_back(type->make(init, shape, options));
  return synthesizer(init, shape, options, {make_mixed_logits(std::move(sources))});
}

template <auto& kStandard>
double count_mixture(const SynthesizerShape& shape, const AttentionTypeOptions& options) {
  double sum = count_synthesizer<>(shape, options);
  for (const MixedType* type : mixed_types(options, kStandard)) sum += type->logits(shape, options);
  return sum;
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
      {"dense", single<dense_source>, count_synthesizer<dense_logits>},
      {"stt", single<tensor_source<ReducedAxis::channel>>,
       count_synthesizer<tensor_logits<ReducedAxis::channel>>},
      {"tensor-height", single<tensor_source<ReducedAxis::height>>,
       count_synthesizer<tensor_logits<ReducedAxis::height>>},
      {"tensor-width", single<tensor_source<ReducedAxis::width>>,
       count_synthesizer<tensor_logits<ReducedAxis::width>>},
      {"additive", additive,
       count_synthesizer<tensor_logits<ReducedAxis::height>, tensor_logits<ReducedAxis::width>,
                         tensor_logits<ReducedAxis::channel>, additive_mixing>},
      {"random", single<random_source<true>>, count_synthesizer<>},
      {"random-fixed", single<random_source<false>>, count_synthesizer<>},
      {"factorized-dense", single<factorized_dense_source>,
       count_synthesizer<tensor_logits<ReducedAxis::channel>>},
      {"factorized-random", single<factorized_random_source>, count_synthesizer<factorized_logits>},
      {"product-random", product_random, count_product_random},
      {"mixture", mixture<kTensor>, count_mixture<kTensor>},
      {"mixture-dense", mixture<kDense>, count_mixture<kDense>},
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

std::vector<std::string> mixable_types() {
  std::vector<std::string> names;
  for (const MixedType& type : kMixedTypes) names.emplace_back(type.name);
  return names;
}

std::string mixture_fault(std::initializer_list<std::string_view> names,
                          const std::vector<std::string>& mixed) {
  if (mixed.empty()) return "";
  if (std::ranges::none_of(names, mixes))
    return "has no effect: only attention mixture and mixture-dense mix types";
  if (std::set<std::string>(mixed.begin(), mixed.end()).size() < std::max<size_t>(mixed.size(), 2))
    return "must be two or more different types";
  const auto reads_tokens = [](const std::string& one) { return grid_type(one).reads_tokens; };
  if (std::ranges::count_if(mixed, reads_tokens) + 1 < std::ssize(mixed))
    return "may have only one of random, random-fixed and factorized-random";
  if (std::ranges::find(names, "mixture-dense") == names.end()) return "";
  for (const std::string& one : mixed)
    if (!grid_type(one).causal || !grid_type(one).cross_attention)
      return fmt::format("has '{}', whose rows depend on every token: mixture-dense cannot mix it", one);
  return "";
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
  TORCH_CHECK_VALUE(shape.heads >= 1 && shape.width % shape.heads == 0, "attention '", type.name,
                    "': heads = ", shape.heads, " must divide the width ", shape.width);
  if (mixes(type.name)) {
    const std::string fault = mixture_fault({type.name}, options.mixture);
    TORCH_CHECK_VALUE(fault.empty(), "mixture ", fault);
  }
  return grid_constructor(type.name).make(init, shape, options);
}

}  // namespace modewise::nn
