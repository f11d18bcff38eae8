#pragma once
// Names and shapes of all weights of a text encoder, here and in Hugging Face files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/models/text/config_json.h"

namespace modewise::models {

struct TextTensor {
  enum class Part : uint8_t { encoder, pooler, head };
  std::string own;   // name in the module's state
  std::string file;  // name in transformers files
  std::vector<int64_t> shape;
  Part part = Part::encoder;
};

/// All weights except those added by attention types other than full. `config` must be resolved; `classes` is
/// for a classification head.
std::vector<TextTensor> text_tensors(const TextModelConfig& config, TextHead head, int64_t classes);

/// File name of a parameter that only some attention types have: encoder.layers.0.attention.latents ->
/// bert.encoder.layer.0.attention.latents.
std::string form_tensor_name(const TextModelConfig& config, std::string_view own);

}  // namespace modewise::models
