#include "modewise/models/text/cost.h"

#include <utility>

#include "modewise/nn/attention/attention_cost.h"

namespace modewise::models {

nn::ModelCost text_cost(const TextModelConfig& chosen, int64_t tokens, const TextReadout& readout) {
  chosen.validate("model");
  const TextModelConfig c = chosen.resolved();
  const auto n = static_cast<double>(tokens), d = static_cast<double>(c.width);
  const nn::SequenceAttentionOptions options = c.attention.options(c.width, c.heads, tokens);
  nn::CostAccount account(c.precision);
  account.layer("embedding");
  account.add("embedding", (c.vocabulary + c.position_rows() + c.types) * c.width, 0);
  account.norm(c.width, n);
  for (int64_t layer = 0; layer < c.layers; ++layer) {
    account.layer("layer " + std::to_string(layer + 1));
    add_sequence_attention(account, options, tokens, 1);
    account.linear("feed-forward", c.width, c.hidden, n);
    account.linear("feed-forward", c.hidden, c.width, n);
    for (int i = 0; i < 2; ++i) account.norm(c.width, n);
    account.keep(n * static_cast<double>(8 * c.width + 2 * c.hidden));
  }
  account.layer("head");
  if (readout.classes > 0) {
    account.linear("head", c.width, c.width, 1);
    account.linear("head", c.width, readout.classes, 1);
  } else if (readout.masked > 0) {
    const double rows = n * readout.masked;
    account.linear("head", c.width, c.width, rows);
    account.norm(c.width, rows);
    account.add("head", c.vocabulary, rows * d * static_cast<double>(c.vocabulary));
  }
  nn::ModelCost cost = std::move(account).cost({tokens});
  cost.weight_share = nn::weight_share(options, tokens);
  return cost;
}

}  // namespace modewise::models
