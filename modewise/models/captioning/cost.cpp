#include "modewise/models/captioning/cost.h"

#include <utility>

#include "modewise/nn/attention/attention_cost.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {
namespace {

void add_caption_network(nn::CostAccount& account, const CaptionModelConfig& config, double rows) {
  const int64_t width = config.decoder.width, hidden = width * config.decoder.feed_forward;
  account.norm(width, rows);
  account.linear("feed-forward", width, hidden, rows);
  account.linear("feed-forward", hidden, width, rows);
  account.keep(rows * static_cast<double>(width + 2 * hidden));
}

/// The cost of the encoder, to which the decoder is added.
nn::CostAccount caption_encoder_cost(const CaptionModelConfig& config, const CaptionShape& shape) {
  nn::CostAccount account;
  const CaptionEncoderConfig& encoder = config.encoder;
  const int64_t width = config.decoder.width;
  int64_t channels = shape.features;
  account.layer("backbone");
  if (shape.features == 0) {
    channels = shape.channels;
    CaptionModelConfig part = config;  // truncated after this convolution, for its feature map
    part.encoder.widths.clear();
    for (const int64_t next : encoder.widths) {
      part.encoder.widths.push_back(next);
      const double places = nn::cell_count(caption_cells(part, shape));
      account.linear("convolutions", encoder.kernel * encoder.kernel * channels, next, places, false);
      account.norm(next, places);
      account.keep(2 * places * static_cast<double>(next));
      channels = next;
    }
  }
  const std::vector<int64_t> cells = caption_cells(config, shape);
  const double count = nn::cell_count(cells);
  account.linear("embedding", channels, width, count);
  account.add("embedding", cells[0] * cells[1] * width, 0);
  account.keep(count * static_cast<double>(width));
  for (int64_t layer = 0; encoder.attention != "none" && layer < encoder.layers; ++layer) {
    account.layer("cells " + std::to_string(layer + 1));
    account.norm(width, count);
    nn::AttentionTypeOptions options;
    options.factors = encoder.factors;
    options.mixture = encoder.mixture;
    add_attention(account, encoder.attention, {cells, 0, width, encoder.heads}, options);
    add_caption_network(account, config, count);
  }
  account.norm(width, count);
  return account;
}

}  // namespace

nn::ModelCost transformer_captioner_cost(const CaptionModelConfig& config, const CaptionShape& shape) {
  const CaptionDecoderConfig& decoder = config.decoder;
  const auto words = static_cast<double>(config.max_words);
  const auto cells = static_cast<int64_t>(nn::cell_count(caption_cells(config, shape)));
  nn::CostAccount account = caption_encoder_cost(config, shape);
  account.layer("words");
  account.add("embedding", (shape.vocabulary + config.max_words) * decoder.width, 0);
  for (int64_t layer = 0; layer < decoder.layers; ++layer) {
    account.layer("layer " + std::to_string(layer + 1));
    nn::AttentionTypeOptions causal, rectangular;
    causal.causal = true;
    causal.factors = rectangular.factors = decoder.factors;
    causal.mixture = rectangular.mixture = decoder.mixture;
    account.norm(decoder.width, words);
    add_attention(account, decoder.attention, {{config.max_words}, 0, decoder.width, decoder.heads}, causal);
    if (ops::find_attention_type(decoder.cross_attention, ops::TokenLayout::grid)->reads_tokens)
      account.norm(decoder.width, words);
    add_attention(account, decoder.cross_attention, {{config.max_words}, cells, decoder.width, decoder.heads},
                  rectangular);
    add_caption_network(account, config, words);
  }
  account.layer("head");
  account.norm(decoder.width, words);
  account.linear("head", decoder.width, shape.vocabulary, words);
  account.keep(words * static_cast<double>(decoder.width + shape.vocabulary));
  return std::move(account).cost(caption_cells(config, shape));
}

nn::ModelCost lstm_captioner_cost(const CaptionModelConfig& config, const CaptionShape& shape) {
  const CaptionDecoderConfig& decoder = config.decoder;
  const int64_t width = decoder.width;
  const auto words = static_cast<double>(config.max_words);
  const double cells = nn::cell_count(caption_cells(config, shape));
  nn::CostAccount account = caption_encoder_cost(config, shape);
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
  return std::move(account).cost(caption_cells(config, shape));
}

nn::ModelCost caption_cost(const CaptionModelConfig& config, const CaptionShape& shape) {
  validate(config, shape);
  return row_of(captioners(), config.name).cost(config, shape);
}

}  // namespace modewise::models
