#include "modewise/models/captioning/config.h"

#include "modewise/nn/attention/grid_attention.h"
#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {

void CaptionEncoderConfig::fields(Fields& f) {
  std::vector<std::string> forms = ops::attention_names(ops::TokenLayout::grid);
  forms.insert(forms.begin(), "none");
  f.add("widths", widths, "channels of the backbone's convolutions; each halves the image",
        {.min = 1, .max = 4096});
  f.add("kernel", kernel, "kernel size of the convolutions in pixels, odd", {.min = 1, .max = 31});
  f.add("attention", attention,
        "self-attention type over the cells of the feature map, or none (docs/synthesizers.md)",
        {.one_of = forms});
  f.add("layers", layers, "encoder blocks of attention and feed-forward", {.min = 1, .max = 64});
  f.add("heads", heads, "attention heads of the encoder; must divide decoder.width", {.min = 1, .max = 4096});
  f.add("factors", factors, "Kronecker factors of factorized attention types", {.min = 1, .max = 16});
  f.add("mixture", mixture,
        "types whose logits attention mixture mixes, such as dense,random (default stt,factorized-random)",
        {.one_of = nn::mixable_types()});
  f.add("dropout", dropout, "dropout probability in the encoder blocks", {.min = 0, .max = 0.99});
}

void CaptionDecoderConfig::fields(Fields& f) {
  f.add("width", width, "width D of cells and word embeddings", {.min = 1, .max = 65536});
  f.add("layers", layers, "decoder layers", {.min = 1, .max = 64});
  f.add("heads", heads, "attention heads of the decoder; must divide width", {.min = 1, .max = 4096});
  f.add("attention", attention, "causal self-attention type of the decoder",
        {.one_of = ops::attention_names(ops::TokenLayout::grid)});
  f.add("cross_attention", cross_attention, "cross-attention type from words to cells",
        {.one_of = ops::attention_names(ops::TokenLayout::grid)});
  f.add("factors", factors, "Kronecker factors of factorized attention types", {.min = 1, .max = 16});
  f.add("mixture", mixture,
        "types whose logits attention mixture-dense mixes, such as dense,random (default "
        "dense,factorized-random)",
        {.one_of = nn::mixable_types()});
  f.add("feed_forward", feed_forward, "hidden width of the feed-forward networks, in multiples of width",
        {.min = 1, .max = 64});
  f.add("dropout", dropout, "dropout probability of word embeddings and residual branches",
        {.min = 0, .max = 0.99});
}

void CaptionModelConfig::fields(Fields& f) {
  f.add("name", name, "captioning model", {.one_of = names_of(captioners())});
  f.add("max_words", max_words, "maximum caption length in tokens, including EOS", {.min = 1, .max = 4096});
  f.group("encoder", encoder);
  f.group("decoder", decoder);
}

}  // namespace modewise::models
