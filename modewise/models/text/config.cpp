#include "modewise/models/text/config.h"

#include "modewise/core/error.h"

namespace modewise::models {

void TextModelConfig::fields(Fields& f) {
  f.add("from", from,
        "pretrained model folder (Hugging Face layout) to start from, which also sets kind and "
        "sizes; \"\": from scratch",
        {.is_path = always});
  f.add("kind", kind, "architecture: bert or roberta (position numbering and heads)",
        {.one_of = {"bert", "roberta"}});
  f.add("vocabulary", vocabulary, "vocabulary size, that of the tokenizer", {.min = 1, .max = 16777216});
  f.add("width", width, "width D of a token", {.min = 1, .max = 65536});
  f.add("hidden", hidden, "hidden width of the feed-forward network; 0: four times the width",
        {.min = 0, .max = 1048576});
  f.add("layers", layers, "number of transformer layers", {.min = 1, .max = 1000});
  f.add("heads", heads, "attention heads; must divide width", {.min = 1, .max = 4096});
  f.add("max_positions", positions, "maximum text length in tokens (rows of learned position embeddings)",
        {.min = 1, .max = 16777216});
  f.add("token_types", types, "number of token types, such as first and second text; 0: bert 2, roberta 1",
        {.min = 0, .max = 65536});
  f.add("padding_id", padding_id, "id of the padding token; -1: bert 0, roberta 1",
        {.min = -1, .max = 16777215});
  f.add("dropout", dropout, "dropout probability of embeddings, attention and feed-forward outputs",
        {.min = 0, .max = 0.99});
  f.add("attention_dropout", attention_dropout, "dropout probability of the attention weights",
        {.min = 0, .max = 0.99});
  f.add("head_dropout", head_dropout, "dropout probability before the output layer; -1: as dropout",
        {.min = -1, .max = 0.99});
  f.add("norm_epsilon", norm_epsilon, "epsilon of LayerNorm; 0: bert 1e-12, roberta 1e-5",
        {.min = 0, .max = 1});
  f.add("init_std", stddev, "standard deviation of the initial weights (normal)", {.min = 0, .max = 10});
  f.add("position_init", first_positions,
        "initial position embeddings: normal, as the other weights, or sinusoid (sinusoidal "
        "encoding, with which the model finds neighbours sooner)",
        {.one_of = {"normal", "sinusoid"}});
  f.add("precision", precision, "dtype of activations; weights, statistics and sums are float32",
        {.one_of = {"float32", "bf16"}});
  f.group("attention", attention);
}

void TextModelConfig::validate(const std::string& source) const {
  TextModelConfig copy = *this;
  fields_of(copy).validate(source);
  require(width % heads == 0, ErrorKind::config, "{}: width = {} must be a multiple of heads = {}", source,
          width, heads);
  require(head_dropout >= 0 || head_dropout == -1, ErrorKind::config,
          "{}: head_dropout = {} must be a probability, or -1", source, head_dropout);
  const int64_t padding = resolved().padding_id;
  require(padding < vocabulary, ErrorKind::config,
          "{}: padding_id = {} is outside the vocabulary of {} tokens", source, padding, vocabulary);
  attention.validate(source, positions);
}

TextModelConfig TextModelConfig::resolved() const {
  TextModelConfig out = *this;
  const bool bert = kind == "bert";
  if (out.hidden == 0) out.hidden = 4 * width;
  if (out.types == 0) out.types = bert ? 2 : 1;
  if (out.padding_id < 0) out.padding_id = bert ? 0 : 1;
  if (out.head_dropout < 0) out.head_dropout = dropout;
  if (out.norm_epsilon == 0) out.norm_epsilon = bert ? 1e-12 : 1e-5;
  return out;
}

int64_t TextModelConfig::position_rows() const {
  return kind == "roberta" ? positions + padding_id + 1 : positions;
}

nn::SequenceAttentionOptions TextModelConfig::attention_options() const {
  nn::SequenceAttentionOptions out = attention.options(width, heads, positions);
  out.dropout = attention_dropout;
  return out;
}

}  // namespace modewise::models
