#include "modewise/nn/attention/attention_cost.h"

#include <utility>

#include "modewise/ops/attention/attention_types.h"

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
  double products = 2 * compared_pairs(options, n) * static_cast<double>(options.width);
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

}  // namespace modewise::nn
