#include "modewise/analysis/caption_cost.h"

#include <utility>

#include "modewise/analysis/attention_type_cost.h"

namespace modewise::analysis {
namespace {

using models::CaptionModelConfig;
using models::CaptionShape;

double count_of(const std::vector<int64_t>& sizes) {
  double out = 1;
  for (const int64_t size : sizes) out *= static_cast<double>(size);
  return out;
}

void add_network(CostAccount& account, const CaptionModelConfig& config, double rows) {
  const int64_t width = config.decoder.width, hidden = width * config.decoder.feed_forward;
  account.norm(width, rows);
  account.linear("feed-forward", width, hidden, rows);
  account.linear("feed-forward", hidden, width, rows);
  account.keep(rows * static_cast<double>(width + 2 * hidden));
}

void add_caption_encoder(CostAccount& account, const CaptionModelConfig& config, const CaptionShape& shape) {
  const models::CaptionEncoderConfig& encoder = config.encoder;
  const int64_t width = config.decoder.width;
  int64_t channels = shape.features;
  account.layer("backbone");
  if (shape.features == 0) {
    channels = shape.channels;
    CaptionModelConfig part = config;  // truncated after this convolution, for its feature map
    part.encoder.widths.clear();
    for (const int64_t next : encoder.widths) {
      part.encoder.widths.push_back(next);
      const double places = count_of(models::caption_cells(part, shape));
      account.linear("convolutions", encoder.kernel * encoder.kernel * channels, next, places, false);
      account.norm(next, places);
      account.keep(2 * places * static_cast<double>(next));
      channels = next;
    }
  }
  const std::vector<int64_t> cells = models::caption_cells(config, shape);
  const double count = count_of(cells);
  account.linear("embedding", channels, width, count);
  account.add("embedding", cells[0] * cells[1] * width, 0);
  account.keep(count * static_cast<double>(width));
  for (int64_t layer = 0; encoder.attention != "none" && layer < encoder.layers; ++layer) {
    account.layer("cells " + std::to_string(layer + 1));
    account.norm(width, count);
    nn::AttentionTypeOptions options;
    options.factors = encoder.factors;
    add_attention(account, encoder.attention, {cells, 0, width, encoder.heads}, options);
    add_network(account, config, count);
  }
  account.norm(width, count);
}

void add_transformer(CostAccount& account, const CaptionModelConfig& config, const CaptionShape& shape) {
  const models::CaptionDecoderConfig& decoder = config.decoder;
  const auto words = static_cast<double>(config.max_words);
  const auto cells = static_cast<int64_t>(count_of(models::caption_cells(config, shape)));
  account.layer("words");
  account.add("embedding", (shape.vocabulary + config.max_words) * decoder.width, 0);
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    account.layer("layer " + std::to_string(layer + 1));
    nn::AttentionTypeOptions causal, rectangular;
    causal.causal = true;
    causal.factors = rectangular.factors = decoder.factors;
    account.norm(decoder.width, words);
    add_attention(account, decoder.attention, {{config.max_words}, 0, decoder.width, decoder.heads}, causal);
    if (nn::find_attention_entry(decoder.cross_attention)->reads_tokens) account.norm(decoder.width, words);
    add_attention(account, decoder.cross_attention, {{config.max_words}, cells, decoder.width, decoder.heads},
                  rectangular);
    add_network(account, config, words);
  }
  account.layer("head");
  account.norm(decoder.width, words);
  account.linear("head", decoder.width, shape.vocabulary, words);
  account.keep(words * static_cast<double>(decoder.width + shape.vocabulary));
}

void add_lstm(CostAccount& account, const CaptionModelConfig& config, const CaptionShape& shape) {
  const models::CaptionDecoderConfig& decoder = config.decoder;
  const int64_t width = decoder.width;
  const auto words = static_cast<double>(config.max_words);
  const double cells = count_of(models::caption_cells(config, shape));
  account.layer("words");
  account.add("embedding", shape.vocabulary * width, 0);
  account.linear("first states", width, 2 * decoder.layers * width, 1);
  account.layer("attention");
  for (const double rows : {words, cells, cells, words}) account.linear("attention", width, width, rows);
  account.add("attention", 0, 2 * words * cells * static_cast<double>(width));
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    account.layer("layer " + std::to_string(layer + 1));
    account.linear("recurrence", layer == 0 ? 2 * width : width, 4 * width, words);
    account.linear("recurrence", width, 4 * width, words);
    account.keep(6 * words * static_cast<double>(width));
  }
  account.layer("head");
  account.linear("head", 2 * width, shape.vocabulary, words);
  account.keep(words * static_cast<double>(2 * width + shape.vocabulary));
}

}  // namespace

ModelCost caption_cost(const CaptionModelConfig& config, const CaptionShape& shape) {
  models::validate(config, shape);
  CostAccount account;
  add_caption_encoder(account, config, shape);
  if (config.name == "lstm")
    add_lstm(account, config, shape);
  else
    add_transformer(account, config, shape);
  return std::move(account).cost(models::caption_cells(config, shape));
}

}  // namespace modewise::analysis
