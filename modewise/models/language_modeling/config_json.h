#pragma once
// The config.json of Hugging Face's Llama and Mistral folders, read into a LanguageModelConfig and written
// from one.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "modewise/models/language_modeling/config.h"

namespace modewise::models {

/// Throws data errors that name `source` and the key: text that is no JSON object, an architecture other than
/// LlamaForCausalLM, MistralForCausalLM and our own, options that those models here lack (biases, other
/// activations, quantised weights), values of a wrong type, sizes that do not fit together.
LanguageModelConfig parse_language_json(std::string_view json, const std::string& source);

/// Forms `full` and `window` are written as LlamaForCausalLM and MistralForCausalLM, which transformers
/// reads. Others get the architecture ModewiseForCausalLM, which it refuses instead of computing something
/// else, and an object "modewise" with what Llama lacks.
/// `begin` and `end` are the tokenizer's marks.
std::string format_language_json(const LanguageModelConfig& config, const std::string& dtype,
                                 std::optional<int64_t> begin = {}, std::optional<int64_t> end = {});

}  // namespace modewise::models
