#pragma once
// Name and shape of every weight of an encoder of text, here and in Hugging Face's files.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/models/text/config_json.h"

namespace modewise::models {

struct TextTensor {
  enum class Part : uint8_t { encoder, pooler, head };
  std::string own;   // in the module's state
  std::string file;  // as transformers writes it
  std::vector<int64_t> shape;
  Part part = Part::encoder;
};

/// All but what other forms of attention than the full one add. `config` is resolved; `classes` for a head of
/// classes.
std::vector<TextTensor> text_tensors(const TextModelConfig& config, TextHead head, int64_t classes);

/// The file's name of a parameter that only some forms of attention have: encoder.layers.0.attention.latents
/// -> bert.encoder.layer.0.attention.latents.
std::string form_tensor_name(const TextModelConfig& config, std::string_view own);

}  // namespace modewise::models
