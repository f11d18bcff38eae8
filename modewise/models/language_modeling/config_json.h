#pragma once
// Hugging Face config.json of Llama and Mistral models: reading into and writing from a LanguageModelConfig.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/models/language_modeling/config.h"
#include "modewise/models/language_modeling/sampling.h"

namespace modewise::models {

/// Special tokens of a config.json or generation_config.json.
struct SpecialIds {
  std::optional<int64_t> begin = {};    // bos_token_id
  std::vector<int64_t> end = {};        // eos_token_id, one or several: each ends a generated text
  std::optional<bool> puts_begin = {};  // modewise.begin_token, if it differs from the tokenizer's files
};
/// Data errors as in parse_language_json.
SpecialIds parse_special_ids(std::string_view json, const std::string& source);

/// Sampling of a generation_config.json.
struct FileSampling {
  /// As transformers samples: greedily unless do_sample is true, then from the 50 most likely tokens unless
  /// top_k says otherwise. Empty if the file has none of the options.
  std::optional<SamplingConfig> sampling = {};
  std::vector<std::string> unsupported = {};  // keys with an effect that SamplingConfig cannot have
};
/// Null counts as absent. Data errors as in parse_language_json.
FileSampling parse_sampling(std::string_view json, const std::string& source);

/// Null counts as absent. Throws data errors that name `source` and the key: not a JSON object, an
/// architecture other than LlamaForCausalLM (or LLaMAForCausalLM), MistralForCausalLM and our own,
/// unsupported options (biases, other activations, quantized weights), values of the wrong type, inconsistent
/// sizes.
LanguageModelConfig parse_language_json(std::string_view json, const std::string& source);

/// Attention types `full` and `window` are written as LlamaForCausalLM and MistralForCausalLM, which
/// transformers loads. Others get the architecture ModewiseForCausalLM, which transformers rejects instead of
/// computing something else, and an object "modewise" with the additional options.
std::string format_language_json(const LanguageModelConfig& config, const std::string& dtype,
                                 const SpecialIds& special = {});

}  // namespace modewise::models
