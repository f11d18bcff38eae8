#include "modewise/models/encoder_config.h"

#include <set>

#include "modewise/core/error.h"
#include "modewise/nn/attention/mode_mask.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {

void PositionConfig::fields(Fields& f) {
  f.add("encoding", code, "position encoding of time and ordered series modes: none, learned or sincos",
        {.one_of = {"none", "learned", "sincos"}});
  f.add("mode_embeddings", identity,
        "learned mode embeddings of series modes without order (variables, stations)");
  f.add("rotary", rotary,
        "modes with rotary embedding: ordered (time and ordered series modes), time or none",
        {.one_of = {"ordered", "time", "none"}});
  f.add("rotary_modes", rotary_modes, "modes with rotary embedding, counted from 0; empty: as `rotary`",
        {.min = 0});
  f.add("rotary_base", rotary_base, "base of the rotary embedding's frequencies", {.min = 1});
}

void AttentionConfig::fields(Fields& f) {
  std::vector<std::string> types = ops::attention_names(ops::TokenLayout::grid);
  types.insert(types.begin(), "model");
  f.add("type", type, "attention type: model (the model's own) or a replacement (docs/synthesizers.md)",
        {.one_of = types});
  f.add("combine", combine,
        "combination of the Kronecker factors: product, sum (as released) or mean (the paper's sum, Eq. 4)",
        {.one_of = {"product", "sum", "mean"}});
  f.add("normalize_sum", normalize_sum,
        "division of combine = sum by the number of factors (Eq. 4 of the paper), as combine = mean; set by "
        "preset = paper");
  f.add("pooling", pooling, "pooling of the other modes for queries and keys: sum or mean",
        {.one_of = {"sum", "mean"}});
  f.add("share_modes", share_modes, "query and key projections shared by all modes");
  f.add("attend_modes", attend_modes, "attended modes, counted from 0, time last; empty: all", {.min = 0});
  f.add(
      "mode_masks", mode_masks,
      "mask of each token mode, time last: none, causal, or band:W (positions at most W apart); empty: none");
  f.add("query_key_norm", query_key_norm, "LayerNorm of queries and keys (QK norm)");
  f.add("kernel", kernel,
        "attention kernel: softmax, linear (positive random features), or none (blocks without attention)",
        {.one_of = {"softmax", "linear", "none"}});
  f.add("features", features, "number of random features of the linear kernel; 0: d·⌈log d⌉",
        {.min = 0, .max = 65536});
  f.add("feature_map", feature_map,
        "feature map of the linear kernel: softmax (unbiased) or regularised (SM-REG, as in the first "
        "HOT paper)",
        {.one_of = {"softmax", "regularised"}});
  f.add(
      "feature_draw", feature_draw,
      "draw of the linear kernel's random features: seed (from train.seed, saved with the weights) or fixed "
      "(the same for every seed)",
      {.one_of = {"seed", "fixed"}});
  f.add("features_redraw_every", features_redraw_every,
        "training batches between redraws of the random features; 0: never", {.min = 0});
  f.add("dropout", dropout, "dropout probability of the attention weights", {.min = 0, .max = 0.99});
}

void EncoderConfig::block_fields(Fields& f) {
  f.add("width", width, "width D of a token", {.min = 1, .max = 65536});
  f.add("hidden", hidden, "hidden width of the feed-forward network", {.min = 1, .max = 262144});
  f.add("layers", blocks, "number of transformer blocks", {.min = 1, .max = 1000});
  f.add("heads", heads, "attention heads; must divide width", {.min = 1, .max = 4096});
  f.add("feed_forward", feed_forward,
        "feed-forward network: swiglu (as released), gelu (as in the paper), or none",
        {.one_of = {"swiglu", "gelu", "none"}});
  f.add("dropout", dropout, "dropout probability of the attention and feed-forward outputs",
        {.min = 0, .max = 0.99});
  f.add("layer_scale", layer_scale,
        "initial LayerScale (learned scale per channel) of each residual branch; 0: none",
        {.min = 0, .max = 10});
}

void EncoderConfig::use_published_blocks(bool release) {
  width = 128;
  hidden = 512;
  heads = 8;
  attention.query_key_norm = release;
  attention.pooling = "sum";  // g_pool of section 4.2
  attention.normalize_sum = !release;
  feed_forward = release ? "swiglu" : "gelu";
}

namespace {

void check_modes(const std::vector<int64_t>& list, const char* name, int64_t modes,
                 const std::string& source) {
  std::set<int64_t> seen;
  for (int64_t mode : list) {
    require(mode >= 0 && mode < modes, ErrorKind::config,
            "{}: {} contains {}, but the tokens have modes 0 to {} (time last)", source, name, mode,
            modes - 1);
    require(seen.insert(mode).second, ErrorKind::config, "{}: {} contains {} twice", source, name, mode);
  }
}

void check_attention(const AttentionConfig& attention, const std::string& feed_forward,
                     const std::string& source) {
  const bool linear = attention.kernel == "linear";
  require(!attention.from_registry() || (attention.kernel == "softmax" && attention.dropout == 0),
          ErrorKind::config,
          "{}: attention.type = \"{}\" is another attention than the model's: attention.kernel = \"{}\" and "
          "attention.dropout = {} cannot act",
          source, attention.type, attention.kernel, attention.dropout);
  require(linear || attention.features == 0, ErrorKind::config,
          "{}: attention.features = {} has no effect with attention.kernel = \"{}\"", source,
          attention.features, attention.kernel);
  require(linear || attention.feature_map == "softmax", ErrorKind::config,
          "{}: attention.feature_map = \"{}\" has no effect with attention.kernel = \"{}\"", source,
          attention.feature_map, attention.kernel);
  require(linear || attention.feature_draw == "seed", ErrorKind::config,
          "{}: attention.feature_draw = \"{}\" has no effect with attention.kernel = \"{}\"", source,
          attention.feature_draw, attention.kernel);
  require(linear || attention.features_redraw_every == 0, ErrorKind::config,
          "{}: attention.features_redraw_every = {} has no effect with attention.kernel = \"{}\"", source,
          attention.features_redraw_every, attention.kernel);
  require(attention.feature_draw == "seed" || attention.features_redraw_every == 0, ErrorKind::config,
          "{}: attention.features_redraw_every = {} needs attention.feature_draw = \"seed\", got \"{}\"",
          source, attention.features_redraw_every, attention.feature_draw);
  require(
      !linear || attention.dropout == 0, ErrorKind::config,
      "{}: attention.dropout = {} has no effect with attention.kernel = \"linear\", which never forms the "
      "weights",
      source, attention.dropout);
  require(attention.kernel != "none" || feed_forward != "none", ErrorKind::config,
          "{}: attention.kernel = \"none\" and feed_forward = \"none\" together leave empty blocks", source);
}

void check_mode_masks(const AttentionConfig& attention, int64_t modes, const std::string& source) {
  if (attention.mode_masks.empty()) return;
  require(std::ssize(attention.mode_masks) == modes, ErrorKind::config,
          "{}: attention.mode_masks has {} masks, but the tokens have {} modes (time last)", source,
          attention.mode_masks.size(), modes);
  require(attention.kernel == "softmax" && !attention.from_registry(), ErrorKind::config,
          "{}: attention.mode_masks need attention.kernel = \"softmax\" and attention.type = \"model\", got "
          "\"{}\" and \"{}\"",
          source, attention.kernel, attention.type);
  for (const std::string& mask : attention.mode_masks)
    require(nn::mode_mask_fault(mask).empty(), ErrorKind::config, "{}: attention.mode_masks: {}", source,
            nn::mode_mask_fault(mask));
}

}  // namespace

void validate_encoder(const EncoderConfig& config, const TokenShape& tokens, const std::string& source) {
  require(config.width % config.heads == 0, ErrorKind::config,
          "{}: width = {} must be a multiple of heads = {}", source, config.width, config.heads);
  const PositionConfig& position = config.position;
  check_modes(config.attention.attend_modes, "attention.attend_modes", tokens.modes(), source);
  check_modes(position.rotary_modes, "position.rotary_modes", tokens.modes(), source);
  check_attention(config.attention, config.feed_forward, source);
  check_mode_masks(config.attention, tokens.modes(), source);
  const int64_t head_width = config.width / config.heads;
  const bool rotary = position.rotary != "none" || !position.rotary_modes.empty();
  require(!rotary || head_width % 2 == 0, ErrorKind::config,
          "{}: rotary embedding needs an even head width, got width / heads = {} / {} = {}; set "
          "position.rotary = "
          "\"none\", or change width or heads",
          source, config.width, config.heads, head_width);
  const auto ordered = static_cast<int64_t>(tokens.ordered_modes.size());
  require(position.code != "sincos" || config.width >= 2 * ordered, ErrorKind::config,
          "{}: position.encoding = \"sincos\" over {} modes needs a width of at least {}, got {}", source,
          ordered, 2 * ordered, config.width);
}

}  // namespace modewise::models
