#include "modewise/models/text/config_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <variant>

#include "modewise/core/error.h"
#include "modewise/models/json_object.h"
#include "modewise/models/pretrained_head.h"

namespace modewise::models {
namespace {

using Ordered = nlohmann::ordered_json;

struct TextArchitecture {
  std::string kind;
  TextHead head;
};

TextArchitecture read_text_architecture(const JsonObject& config, std::string& name) {
  const std::vector<std::string> names = config.list<std::string>("architectures");
  const std::string type = config.text("model_type", "");
  name = names.empty() ? "" : names[0];
  std::string kind = type;
  if (type == "modewise") kind = config.has("modewise") ? config.object("modewise").text("kind", "") : "";
  const bool ours = name.starts_with("Modewise");
  if (kind.empty()) kind = name.starts_with("Bert") ? "bert" : name.starts_with("Roberta") ? "roberta" : "";
  const std::string family = ours ? "Modewise" : kind == "bert" ? "Bert" : "Roberta";
  const bool known = (kind == "bert" || kind == "roberta") && (name.empty() || name.starts_with(family));
  require(known, ErrorKind::data,
          "{}: unsupported architecture {} (model_type \"{}\"); supported are BERT and RoBERTa encoders and "
          "modewise exports",
          config.source(), name.empty() ? "not named" : name, type);
  TextHead head = TextHead::none;
  if (name.ends_with("ForSequenceClassification")) head = TextHead::classes;
  if (name.ends_with("ForMaskedLM")) head = TextHead::masked;
  return {kind, head};
}

/// Rejects options of transformers that change the function and are not supported here.
void refuse_what_is_not_read(const JsonObject& config) {
  const auto refuse = [&](bool found, const char* what) {
    require(!found, ErrorKind::data, "{}: {}", config.source(), what);
  };
  const std::string activation = config.text("hidden_act", "gelu");
  require(activation == "gelu", ErrorKind::data, "{}: hidden_act is \"{}\"; only gelu is supported",
          config.source(), activation);
  const std::string positions = config.text("position_embedding_type", "absolute");
  require(positions == "absolute", ErrorKind::data,
          "{}: position_embedding_type is \"{}\"; only absolute is supported", config.source(), positions);
  refuse(config.boolean("is_decoder", false), "is_decoder is true; only encoders are supported");
  refuse(config.boolean("add_cross_attention", false),
         "add_cross_attention is true; only encoders are supported");
  refuse(config.has("quantization_config"),
         "quantization_config is set; quantized weights are not supported");
  refuse(!config.boolean("tie_word_embeddings", true),
         "tie_word_embeddings is false; untied embeddings are not supported");
}

/// Class names, and whether the head has one real value instead.
void read_text_labels(const JsonObject& config, TextFileConfig& out) {
  out.labels = read_label_names(config);
  const size_t count = out.labels.size();
  out.regression = config.text("problem_type", count == 1 ? "regression" : "") == "regression";
  require(!out.regression || count == 1, ErrorKind::data,
          "{}: problem_type is \"regression\", but there are {} labels; expected one", config.source(),
          count);
}

void read_positions(const JsonObject& config, TextModelConfig& out) {
  const bool bert = out.kind == "bert";
  const int64_t rows = config.integer("max_position_embeddings", 512);
  out.padding_id = config.integer("pad_token_id", bert ? 0 : 1);
  out.positions = rows;
  if (bert) return;
  require(out.padding_id >= 0 && out.padding_id < int64_t{1} << 24, ErrorKind::data,
          "{}: pad_token_id is {}, which is not a token", config.source(), out.padding_id);
  out.positions = rows - out.padding_id - 1;
  require(out.positions >= 1, ErrorKind::data,
          "{}: max_position_embeddings is {}, but RoBERTa's positions start at row pad_token_id + 1 = {}",
          config.source(), rows, out.padding_id + 1);
}

/// All attention options by their config names, for any attention type.
Ordered attention_json(const SequenceAttentionConfig& attention) {
  SequenceAttentionConfig copy = attention;
  Ordered out = Ordered::object();
  const Fields fields = fields_of(copy);
  for (const Field& field : fields.list())
    std::visit([&](const auto* value) { out[field.path] = *value; }, field.value);
  return out;
}

void read_text_attention(const JsonObject& object, SequenceAttentionConfig& out) {
  const Fields fields = fields_of(out);
  const auto read = [&](const char* key, auto* value) {
    using Value = std::decay_t<decltype(*value)>;
    if constexpr (std::is_same_v<Value, bool>)
      *value = object.boolean(key, *value);
    else if constexpr (std::is_same_v<Value, int64_t>)
      *value = object.integer(key);
    else if constexpr (std::is_same_v<Value, double>)
      *value = object.number(key);
    else if constexpr (std::is_same_v<Value, std::string>)
      *value = object.text(key, *value);
    else if constexpr (!std::is_same_v<Value, std::vector<double>>)
      *value = object.list<typename Value::value_type>(key);
  };
  for (const Field& field : fields.list())
    if (object.has(field.path.c_str()))
      std::visit([&](auto* value) { read(field.path.c_str(), value); }, field.value);
}

const char* architecture_end(TextHead head) {
  return head == TextHead::classes  ? "ForSequenceClassification"
         : head == TextHead::masked ? "ForMaskedLM"
                                    : "Model";
}

}  // namespace

TextFileConfig parse_text_json(std::string_view json, const std::string& source) {
  const nlohmann::json document = parse_config_json(json, source);
  const JsonObject config(document, "", source);
  TextFileConfig file;
  const TextArchitecture architecture = read_text_architecture(config, file.architecture);
  file.head = architecture.head;
  refuse_what_is_not_read(config);
  TextModelConfig& out = file.config;
  out.kind = architecture.kind;
  const bool bert = out.kind == "bert";
  out.vocabulary = config.integer("vocab_size", bert ? 30522 : 50265);
  out.width = config.integer("hidden_size", 768);
  out.layers = config.integer("num_hidden_layers", 12);
  out.heads = config.integer("num_attention_heads", 12);
  out.hidden = config.integer("intermediate_size", 3072);
  out.types = config.integer("type_vocab_size", 2);
  out.dropout = config.number("hidden_dropout_prob", 0.1);
  out.attention_dropout = config.number("attention_probs_dropout_prob", 0.1);
  out.head_dropout = config.number("classifier_dropout", -1);
  out.norm_epsilon = config.number("layer_norm_eps", 1e-12);
  out.stddev = config.number("initializer_range", 0.02);
  require(out.hidden >= 1 && out.types >= 1, ErrorKind::data,
          "{}: intermediate_size and type_vocab_size must be positive", source);
  read_positions(config, out);
  if (config.has("modewise") && config.object("modewise").has("attention"))
    read_text_attention(config.object("modewise").object("attention"), out.attention);
  if (file.head == TextHead::classes || file.architecture.empty()) read_text_labels(config, file);
  try {
    out.validate(source);
  } catch (const Error& error) {
    fail(ErrorKind::data, "{}", error.what());  // a file error, not an error of the user's config
  }
  out = out.resolved();
  return file;
}

std::string format_text_json(const TextFileConfig& file, const std::string& dtype) {
  const TextModelConfig c = file.config.resolved();
  const bool full = c.attention.type == "full", bert = c.kind == "bert";
  const std::string family = !full ? "Modewise" : bert ? "Bert" : "Roberta";
  Ordered out = {{"architectures", {family + architecture_end(file.head)}},
                 {"model_type", full ? c.kind : "modewise"},
                 {"vocab_size", c.vocabulary},
                 {"hidden_size", c.width},
                 {"num_hidden_layers", c.layers},
                 {"num_attention_heads", c.heads},
                 {"intermediate_size", c.hidden},
                 {"hidden_act", "gelu"},
                 {"hidden_dropout_prob", c.dropout},
                 {"attention_probs_dropout_prob", c.attention_dropout},
                 {"classifier_dropout", c.head_dropout},
                 {"max_position_embeddings", c.position_rows()},
                 {"position_embedding_type", "absolute"},
                 {"type_vocab_size", c.types},
                 {"initializer_range", c.stddev},
                 {"layer_norm_eps", c.norm_epsilon},
                 {"pad_token_id", c.padding_id},
                 {"tie_word_embeddings", true},
                 {"torch_dtype", dtype}};
  if (!full) out["modewise"] = {{"kind", c.kind}, {"attention", attention_json(c.attention)}};
  if (file.head == TextHead::classes) {
    Ordered names = Ordered::object(), numbers = Ordered::object();
    for (size_t i = 0; i < file.labels.size(); ++i) {
      names[std::to_string(i)] = file.labels[i];
      numbers[file.labels[i]] = i;
    }
    out["id2label"] = std::move(names);
    out["label2id"] = std::move(numbers);
    out["problem_type"] = file.regression ? "regression" : "single_label_classification";
  }
  return out.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

}  // namespace modewise::models
