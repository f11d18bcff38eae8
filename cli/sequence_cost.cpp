#include "modewise/nn/attention/attention_cost.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/cost.h"
#include "modewise/models/sequence_attention_config.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::cli {
namespace {

/// All attention types with their defaults; `axial` in the three orders of Tensorized Attention.
std::vector<models::SequenceAttentionConfig> all_forms() {
  std::vector<models::SequenceAttentionConfig> out;
  for (const nn::SequenceConstructor& one : nn::sequence_constructors()) {
    models::SequenceAttentionConfig config;
    config.type = one.name;
    const bool orders = ops::find_attention_type(one.name)->order;
    if (!orders) out.push_back(config);
    for (int64_t order = 1; orders && order <= 3; ++order) {
      config.order = order;
      out.push_back(config);
    }
  }
  return out;
}

}  // namespace

std::vector<SequenceEntry> sequence_entries(const CostOptions& options) {
  std::vector<SequenceEntry> out;
  const models::EncoderConfig& encoder = options.model.encoder;
  for (const int64_t tokens : options.tokens)
    for (const models::SequenceAttentionConfig& config : all_forms()) {
      const nn::SequenceAttentionOptions attention = config.options(encoder.width, encoder.heads, tokens);
      out.push_back({config.order > 0 ? fmt::format("Tens-{}", config.order) : config.title(), tokens,
                     nn::sequence_cost(attention, tokens), nn::attention_steps(attention, tokens),
                     nn::attention_hops(attention, tokens)});
    }
  return out;
}

report::Table sequence_table(const std::vector<SequenceEntry>& entries) {
  report::Table table({{"attention"},
                       {"tokens"},
                       {"weights computed %"},
                       {"hops"},
                       {"parameters"},
                       {"logits M"},
                       {"softmax M"},
                       {"mixing M"},
                       {"million multiply-adds"}});
  const auto millions = [](double count) { return report::Cell(count / 1e6, 1); };
  for (const SequenceEntry& entry : entries)
    table.add_row({entry.name, entry.tokens, report::Cell(entry.cost.weight_share * 100, 1),
                   entry.hops ? report::Cell(*entry.hops) : report::Cell(std::nan("")),
                   entry.cost.parameters(), millions(entry.steps.logits), millions(entry.steps.softmax),
                   millions(entry.steps.mixing), millions(entry.cost.multiply_adds())});
  return table;
}

nlohmann::ordered_json sequence_json(const std::vector<SequenceEntry>& entries) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const SequenceEntry& entry : entries) {
    out.push_back({{"attention", entry.name},
                   {"tokens", entry.tokens},
                   {"weight_share", entry.cost.weight_share},
                   {"hops", nullptr},
                   {"parameters", entry.cost.parameters()},
                   {"logits", entry.steps.logits},
                   {"softmax", entry.steps.softmax},
                   {"mixing", entry.steps.mixing},
                   {"multiply_adds", entry.cost.multiply_adds()}});
    if (entry.hops) out.back()["hops"] = *entry.hops;
  }
  return out;
}

}  // namespace modewise::cli
