#include "modewise/models/language_modeling/cost.h"

#include <utility>

#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {

nn::ModelCost language_cost(const LanguageModelConfig& chosen) {
  const LanguageModelConfig c = chosen.resolved();
  const ops::TensorAttentionOptions options = c.attention_options();
  const int64_t queries = c.heads * c.head_width, keys = c.kv_heads * c.head_width;
  const auto n = static_cast<double>(c.context), d = static_cast<double>(c.width),
             hidden = static_cast<double>(c.hidden);
  const double pairs = ops::compared_pairs({options, c.attention.summary_tokens}, c.context);
  nn::CostAccount account(c.precision);
  account.layer("embedding");
  account.add("embedding", c.vocabulary * c.width, 0);
  for (int64_t layer = 0; layer < c.layers; ++layer) {
    account.layer("layer " + std::to_string(layer + 1));
    account.add("norms", 2 * c.width, 2 * n * d);
    account.linear("query and key", c.width, queries, n, false);
    account.linear("query and key", c.width, keys, n, false);
    account.linear("value and output", c.width, keys, n, false);
    account.linear("value and output", queries, c.width, n, false);
    account.add("query and key", ops::latent_levels(options) * c.attention.summary_tokens * keys, 0);
    account.add("scores and mixing", 0, 2 * pairs * static_cast<double>(queries));
    account.add("feed-forward", 3 * c.width * c.hidden, n * (3 * d * hidden + hidden));
    account.keep(n * (6 * d + 3 * hidden));
  }
  account.layer("head");
  account.add("norms", c.width, n * d);
  account.add("head", c.tied ? 0 : c.vocabulary * c.width, n * d * static_cast<double>(c.vocabulary));
  return std::move(account).cost({c.context});
}

}  // namespace modewise::models
