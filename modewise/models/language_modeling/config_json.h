#pragma once
// Hugging Face config.json of Llama and Mistral models: reading into and writing from a LanguageModelConfig.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "modewise/models/language_modeling/config.h"

namespace modewise::models {

/// Throws data errors that name `source` and the key: not a JSON object, an architecture other than
/// LlamaForCausalLM, MistralForCausalLM and our own, unsupported options (biases, other activations,
/// quantized weights), values of the wrong type, inconsistent sizes.
LanguageModelConfig parse_language_json(std::string_view json, const std::string& source);

/// Attention types `full` and `window` are written as LlamaForCausalLM and MistralForCausalLM, which
/// transformers loads. Others get the architecture ModewiseForCausalLM, which transformers rejects instead of
/// computing something else, and an object "modewise" with the additional options.
/// `begin` and `end` are the tokenizer's BOS and EOS ids.
std::string format_language_json(const LanguageModelConfig& config, const std::string& dtype,
                                 std::optional<int64_t> begin = {}, std::optional<int64_t> end = {});

}  // namespace modewise::models
