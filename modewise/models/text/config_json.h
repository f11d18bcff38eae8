#pragma once
// Hugging Face config.json of BERT and RoBERTa models: reading and writing.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/models/text/config.h"

namespace modewise::models {

/// Head of a text model: none, classification (or regression), masked language modelling.
enum class TextHead { none, classes, masked };

struct TextFileConfig {
  TextModelConfig config;           // resolved
  TextHead head = TextHead::none;   // from the architecture in the file
  std::string architecture;         // such as BertForSequenceClassification
  std::vector<std::string> labels;  // class names; LABEL_0, … if the file has none
  bool regression = false;          // one real value instead of classes
};

/// Throws data errors that name `source` and the key: an architecture other than Bert…, Roberta… and our own,
/// unsupported options (other position embeddings, other activations, decoders, quantized weights), values of
/// the wrong type, inconsistent sizes.
TextFileConfig parse_text_json(std::string_view json, const std::string& source);

/// Full attention is written as BertFor… and RobertaFor…, which transformers loads. Other attention types get
/// the architecture ModewiseFor…, which transformers rejects instead of computing something else, and an
/// object "modewise" with the additional options. `labels` and `regression` are for a classification head.
std::string format_text_json(const TextFileConfig& file, const std::string& dtype);

}  // namespace modewise::models
