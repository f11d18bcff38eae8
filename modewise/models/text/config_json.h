#pragma once
// The config.json of Hugging Face's BERT and RoBERTa folders, read and written.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/models/text/config.h"

namespace modewise::models {

/// What a model makes of its encoder's tokens.
enum class TextHead { none, classes, masked };

struct TextFileConfig {
  TextModelConfig config;           // resolved
  TextHead head = TextHead::none;   // by the architecture that the file names
  std::string architecture;         // such as BertForSequenceClassification
  std::vector<std::string> labels;  // of the classes; LABEL_0, … where the file names none
  bool regression = false;          // one value instead of classes
};

/// Throws data errors that name `source` and the key: an architecture other than Bert…, Roberta… and our own,
/// options that are not read (other positions, other activations, decoders, quantised weights), values of a
/// wrong type, sizes that do not fit together.
TextFileConfig parse_text_json(std::string_view json, const std::string& source);

/// With full attention as BertFor… and RobertaFor…, which transformers reads. Other forms get the
/// architecture ModewiseFor…, which it refuses instead of computing something else, and an object "modewise"
/// with what BERT lacks. `labels` and `regression` are for a head of classes.
std::string format_text_json(const TextFileConfig& file, const std::string& dtype);

}  // namespace modewise::models
