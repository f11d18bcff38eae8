#include "modewise/nn/attention/attention_cost.h"

#include <utility>

#include "modewise/ops/attention/attention_types.h"
#include "modewise/ops/attention/sparse_attention.h"

namespace modewise::nn {
namespace {

/// Parameters without value and output projections.
int64_t attention_parameters(std::string_view name, const SynthesizerShape& shape,
                             const AttentionTypeOptions& options) {
  auto init = Initializer::without_values();
  int64_t sum = 0;
  for (const auto& p : make_attention(init, name, shape, options)->named_parameters())
    if (!p.key().starts_with("value_proj") && !p.key().starts_with("out_proj")) sum += p.value().numel();
  return sum;
}

/// Each token attends to `width` around it; the first and last tokens to the first and last `width`.
std::optional<int64_t> window_hops(int64_t width, int64_t n) {
  const int64_t rest = n - width, after = (width - 1) / 2;  // of the later tokens, never fewer before it
  if (rest <= 0) return 1;
  if (after == 0) return std::nullopt;
  return 1 + (rest + after - 1) / after;
}

/// The modes in which the places of n tokens differ, unless one of them is not attended.
std::optional<int64_t> fold_hops(const SequenceAttentionOptions& options, int64_t n) {
  const std::vector<int64_t>& fold = options.fold;
  const size_t unattended = options.modes > 0 ? fold.size() - static_cast<size_t>(options.modes) : 0;
  int64_t hops = 0, stride = 1;  // tokens between neighbours along the mode
  for (size_t mode = fold.size(); mode-- > 0 && stride < n; stride *= fold[mode]) {
    if (fold[mode] == 1) continue;
    if (mode < unattended) return std::nullopt;
    ++hops;
  }
  return hops;
}

}  // namespace

void add_attention(CostAccount& account, std::string_view name, const SynthesizerShape& shape,
                   const AttentionTypeOptions& options) {
  const auto n = static_cast<double>(shape.rows()), m = static_cast<double>(shape.columns());
  account.linear("value and output", shape.width, shape.width, m);
  account.linear("value and output", shape.width, shape.width, n);
  account.add("scores and mixing", attention_parameters(name, shape, options),
              grid_constructor(name).multiply_adds(shape, options));
  // Values, mixed values and inputs of the logits; the logits are recomputed in the backward pass.
  account.keep((2 * m + 3 * n) * static_cast<double>(shape.width));
}

void add_sequence_attention(CostAccount& account, const SequenceAttentionOptions& options, int64_t n,
                            double samples) {
  const SequenceConstructor& type = sequence_constructor(options.type);
  const double count = samples * static_cast<double>(n);
  for (int i = ops::find_attention_type(options.type)->shared_keys ? 1 : 0; i < 4; ++i)
    account.linear(i < 2 ? "query and key" : "value and output", options.width, options.width, count,
                   options.bias);
  if (type.learned) account.add("query and key", type.learned(options), 0);
  const AttentionSteps steps = attention_steps(options, n);
  double products = steps.logits + steps.mixing;
  if (type.beside) products += type.beside(options, n);
  account.add("scores and mixing", 0, samples * products);
}

ModelCost sequence_cost(const SequenceAttentionOptions& options, int64_t n) {
  CostAccount account;
  account.layer("attention");
  add_sequence_attention(account, options, n, 1);
  ModelCost cost = std::move(account).cost({n});
  cost.weight_share = weight_share(options, n);
  return cost;
}

AttentionSteps attention_steps(const SequenceAttentionOptions& options, int64_t n) {
  const double pairs = compared_pairs(options, n), products = pairs * static_cast<double>(options.width);
  return {.logits = products, .softmax = pairs * static_cast<double>(options.heads), .mixing = products};
}

std::optional<int64_t> attention_hops(const SequenceAttentionOptions& options, int64_t n) {
  if (options.type == "axial") return fold_hops(options, n);
  if (options.type == "window") return window_hops(ops::near_width(n, options.window, options.density), n);
  if (options.type == "random" || options.type == "topk" || options.type == "reformer") return std::nullopt;
  return 1;
}

}  // namespace modewise::nn
