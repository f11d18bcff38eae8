#pragma once
// Small captioners of odd sizes in float64, with any attention type.

#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include <memory>
#include <string>
#include <vector>

#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {

inline CaptionShape small_shape() {
  return {.channels = 3, .height = 17, .width = 9, .vocabulary = 11};
}

/// Images of 17 × 9 pixels give 5 × 3 cells.
inline CaptionModelConfig small_config(const std::string& name = "transformer") {
  CaptionModelConfig config;
  config.name = name;
  config.max_words = 7;
  config.encoder.widths = {4, 6};
  config.encoder.heads = 2;
  config.decoder.width = 10;
  if (name == "transformer") config.decoder.heads = 2;
  config.decoder.feed_forward = 2;
  return config;
}

inline std::shared_ptr<Captioner> small_captioner(const CaptionModelConfig& config,
                                                  const CaptionShape& shape = small_shape()) {
  auto captioner = make_captioner(config, shape, 3);
  captioner->to(at::kDouble);
  captioner->eval();
  return captioner;
}

/// Every valid pair of attention types in the decoder, and the LSTM captioner.
inline std::vector<CaptionModelConfig> all_decoders() {
  std::vector<CaptionModelConfig> out = {small_config("lstm")};
  for (const ops::AttentionType& self : ops::attention_types(ops::TokenLayout::grid))
    for (const ops::AttentionType& cross : ops::attention_types(ops::TokenLayout::grid)) {
      if (!self.causal || !cross.cross_attention) continue;
      out.push_back(small_config());
      out.back().decoder.attention = self.name;
      out.back().decoder.cross_attention = cross.name;
    }
  return out;
}

inline std::string title_of(const CaptionModelConfig& config) {
  return config.name + " " + config.decoder.attention + " " + config.decoder.cross_attention;
}

inline at::Tensor some_images(int64_t count = 2) {
  return at::randn({count, 3, 17, 9}, at::kDouble);
}

/// Tokens [rows, words], BOS first.
inline at::Tensor some_captions(int64_t rows, int64_t words = 7) {
  at::Tensor tokens = at::randint(CaptionToken::first_word, 11, {rows, words}, at::kLong);
  tokens.select(1, 0).fill_(CaptionToken::begin);
  return tokens;
}

}  // namespace modewise::models
