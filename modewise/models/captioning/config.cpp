#include "modewise/models/captioning/config.h"

#include "modewise/nn/attention/attention_registry.h"

namespace modewise::models {
namespace {

std::vector<std::string> attention_names() {
  std::vector<std::string> names;
  for (const nn::AttentionEntry& form : nn::attention_entries()) names.emplace_back(form.name);
  return names;
}

}  // namespace

void CaptionEncoderConfig::fields(Fields& f) {
  std::vector<std::string> forms = attention_names();
  forms.insert(forms.begin(), "none");
  f.add("widths", widths, "channels of the trunk's convolutions; each halves the picture",
        {.min = 1, .max = 4096});
  f.add("kernel", kernel, "pixels of a kernel along each axis, odd", {.min = 1, .max = 31});
  f.add("attention", attention, "of cells among cells (docs/synthesizers.md)", {.one_of = forms});
  f.add("layers", layers, "blocks of attention and feed-forward", {.min = 1, .max = 64});
  f.add("heads", heads, "heads of it; divide decoder.width", {.min = 1, .max = 4096});
  f.add("factors", factors, "Kronecker factors of its factorized forms", {.min = 1, .max = 16});
  f.add("dropout", dropout, "dropout of its blocks", {.min = 0, .max = 0.99});
}

void CaptionDecoderConfig::fields(Fields& f) {
  f.add("width", width, "width of cells and words", {.min = 1, .max = 65536});
  f.add("layers", layers, "layers of the decoder", {.min = 1, .max = 64});
  f.add("heads", heads, "heads of its attention; divide the width", {.min = 1, .max = 4096});
  f.add("attention", attention, "of words among earlier words: a form that may be causal",
        {.one_of = attention_names()});
  f.add("cross_attention", cross_attention, "of words among cells: a form that takes keys from elsewhere",
        {.one_of = attention_names()});
  f.add("factors", factors, "Kronecker factors of their factorized forms", {.min = 1, .max = 16});
  f.add("feed_forward", feed_forward, "hidden width of the feed-forward networks, in widths",
        {.min = 1, .max = 64});
  f.add("dropout", dropout, "dropout of embedded words and of every branch", {.min = 0, .max = 0.99});
}

void CaptionModelConfig::fields(Fields& f) {
  f.add("name", name, "the model that writes", {.one_of = names_of(captioners())});
  f.add("max_words", max_words, "longest caption, its end mark included", {.min = 1, .max = 4096});
  f.group("encoder", encoder);
  f.group("decoder", decoder);
}

}  // namespace modewise::models
