// Registry of captioners, with their checks of config and image shape.

#include <fmt/ranges.h>

#include "modewise/core/error.h"
#include "modewise/models/captioning/captioner.h"
#include "modewise/models/captioning/config.h"
#include "modewise/models/captioning/cost.h"
#include "modewise/models/captioning/lstm_captioner.h"
#include "modewise/models/captioning/transformer_captioner.h"
#include "modewise/nn/attention/grid_attention.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {
namespace {

/// The names of the attention types with the property `may`.
std::string forms_that(bool ops::AttentionType::*may) {
  std::vector<std::string_view> names;
  for (const ops::AttentionType& form : ops::attention_types(ops::TokenLayout::grid))
    if (form.*may) names.push_back(form.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_heads(const CaptionModelConfig& config, int64_t heads, const char* option,
                 const std::string& source) {
  require(config.decoder.width % heads == 0, ErrorKind::config, "{}: {} = {} must divide decoder.width = {}",
          source, option, heads, config.decoder.width);
}

void check_encoder(const CaptionModelConfig& config, const CaptionShape& shape, const std::string& source) {
  require(shape.vocabulary > CaptionToken::first_word, ErrorKind::config,
          "{}: a captioner needs a vocabulary with words besides its {} special tokens, got {}", source,
          CaptionToken::first_word, shape.vocabulary);
  require(shape.channels >= 1 && shape.height >= 1 && shape.width >= 1 && shape.features >= 0,
          ErrorKind::config, "{}: a captioner needs images of at least 1 × 1 × 1, got {} × {} × {}", source,
          shape.channels, shape.height, shape.width);
  require(shape.features > 0 || !config.encoder.widths.empty(), ErrorKind::config,
          "{}: encoder.widths is empty: at least one convolution is needed", source);
  require(config.encoder.kernel % 2 == 1, ErrorKind::config, "{}: encoder.kernel = {} must be odd", source,
          config.encoder.kernel);
  if (config.encoder.attention != "none") check_heads(config, config.encoder.heads, "encoder.heads", source);
  const std::string fault = nn::mixture_fault({config.encoder.attention}, config.encoder.mixture);
  require(fault.empty(), ErrorKind::config, "{}: encoder.mixture {}", source, fault);
}

void check_decoder(const CaptionModelConfig& config, const CaptionShape&, const std::string& source) {
  const CaptionDecoderConfig& decoder = config.decoder;
  check_heads(config, decoder.heads, "decoder.heads", source);
  require(ops::find_attention_type(decoder.attention, ops::TokenLayout::grid)->causal, ErrorKind::config,
          "{}: decoder.attention = \"{}\" cannot be causal: each of its rows depends on every token, later "
          "words included; causal types are {}",
          source, decoder.attention, forms_that(&ops::AttentionType::causal));
  require(
      ops::find_attention_type(decoder.cross_attention, ops::TokenLayout::grid)->cross_attention,
      ErrorKind::config,
      "{}: decoder.cross_attention = \"{}\" has no cross-attention: it needs as many keys as tokens; types "
      "with cross-attention are {}",
      source, decoder.cross_attention, forms_that(&ops::AttentionType::cross_attention));
  const std::string fault = nn::mixture_fault({decoder.attention, decoder.cross_attention}, decoder.mixture);
  require(fault.empty(), ErrorKind::config, "{}: decoder.mixture {}", source, fault);
}

}  // namespace

const std::vector<CaptionerRow>& captioners() {
  static const std::vector<CaptionerRow> rows = {
      {"transformer",
       "",
       {"max_words", "encoder", "decoder"},
       make_model<TransformerCaptioner>,
       transformer_captioner_cost,
       nullptr,
       check_decoder},
      {"lstm",
       "",
       {"max_words", "encoder", "decoder.width", "decoder.layers", "decoder.feed_forward", "decoder.dropout"},
       make_model<LstmCaptioner>,
       lstm_captioner_cost,
       nullptr,
       nullptr},
  };
  return rows;
}

void validate(const CaptionModelConfig& config, const CaptionShape& shape, const std::string& source) {
  check_options(captioners(), config, CaptionModelConfig(), source);
  check_encoder(config, shape, source);
  const CaptionerRow& row = row_of(captioners(), config.name);
  if (row.check) row.check(config, shape, source);
}

std::shared_ptr<Captioner> make_captioner(const CaptionModelConfig& config, const CaptionShape& shape,
                                          uint64_t seed) {
  validate(config, shape);
  nn::Initializer init(seed);
  return row_of(captioners(), config.name).make(config, shape, init);
}

}  // namespace modewise::models
