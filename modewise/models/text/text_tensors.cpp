#include "modewise/models/text/text_tensors.h"

#include <fmt/format.h>

#include <utility>

#include "modewise/ops/attention/attention_types.h"

namespace modewise::models {
namespace {

using Part = TextTensor::Part;

class TensorList {
 public:
  void matrix(const std::string& own, const std::string& file, int64_t out, int64_t in,
              Part part = Part::encoder) {
    list.push_back({own + ".weight", file + ".weight", {out, in}, part});
  }
  void map(const std::string& own, const std::string& file, int64_t out, int64_t in,
           Part part = Part::encoder) {
    matrix(own, file, out, in, part);
    list.push_back({own + ".bias", file + ".bias", {out}, part});
  }
  void norm(const std::string& own, const std::string& file, int64_t width, Part part = Part::encoder) {
    list.push_back({own + ".weight", file + ".weight", {width}, part});
    list.push_back({own + ".bias", file + ".bias", {width}, part});
  }

  std::vector<TextTensor> list;
};

void add_encoder(TensorList& out, const TextModelConfig& c) {
  const std::string file = c.kind + ".embeddings.";
  out.matrix("encoder.words", file + "word_embeddings", c.vocabulary, c.width);
  out.matrix("encoder.positions", file + "position_embeddings", c.position_rows(), c.width);
  out.matrix("encoder.types", file + "token_type_embeddings", c.types, c.width);
  out.norm("encoder.norm", file + "LayerNorm", c.width);
  const bool keys = !ops::find_attention_type(c.attention.type)->shared_keys;
  for (int64_t i = 0; i < c.layers; ++i) {
    const std::string own = fmt::format("encoder.layers.{}.", i);
    const std::string layer = fmt::format("{}.encoder.layer.{}.", c.kind, i);
    out.map(own + "attention.query_proj", layer + "attention.self.query", c.width, c.width);
    if (keys) out.map(own + "attention.key_proj", layer + "attention.self.key", c.width, c.width);
    out.map(own + "attention.value_proj", layer + "attention.self.value", c.width, c.width);
    out.map(own + "attention.out_proj", layer + "attention.output.dense", c.width, c.width);
    out.norm(own + "norm1", layer + "attention.output.LayerNorm", c.width);
    out.map(own + "feed_forward.linear1", layer + "intermediate.dense", c.hidden, c.width);
    out.map(own + "feed_forward.linear2", layer + "output.dense", c.width, c.hidden);
    out.norm(own + "norm2", layer + "output.LayerNorm", c.width);
  }
}

void add_masked_head(TensorList& out, const TextModelConfig& c) {
  const bool bert = c.kind == "bert";
  const std::string file = bert ? "cls.predictions." : "lm_head.";
  const std::string dense = bert ? "transform.dense" : "dense";
  out.map("dense", file + dense, c.width, c.width, Part::head);
  out.norm("norm", file + (bert ? "transform.LayerNorm" : "layer_norm"), c.width, Part::head);
  out.list.push_back({"bias", file + "bias", {c.vocabulary}, Part::head});
}

}  // namespace

std::vector<TextTensor> text_tensors(const TextModelConfig& c, TextHead head, int64_t classes) {
  TensorList out;
  add_encoder(out, c);
  const bool bert = c.kind == "bert";
  if (head == TextHead::masked) add_masked_head(out, c);
  if (head != TextHead::classes) return std::move(out.list);
  if (bert)
    out.map("encoder.pooler", "bert.pooler.dense", c.width, c.width, Part::pooler);
  else
    out.map("dense", "classifier.dense", c.width, c.width, Part::head);
  out.map("output", bert ? "classifier" : "classifier.out_proj", classes, c.width, Part::head);
  return std::move(out.list);
}

std::string form_tensor_name(const TextModelConfig& config, std::string_view own) {
  constexpr std::string_view kOwn = "encoder.layers.";
  return config.kind + ".encoder.layer." + std::string(own.substr(kOwn.size()));
}

}  // namespace modewise::models
