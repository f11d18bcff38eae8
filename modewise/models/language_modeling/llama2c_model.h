#pragma once
// Conversion of llama2.c checkpoints. llama2.c rotates neighbouring pairs of a head, Hugging Face and this
// program the two halves of a head, so rows of query and key weights are permuted.

#include <filesystem>
#include <string>

#include "modewise/io/arrays/llama2c_checkpoint.h"
#include "modewise/models/language_modeling/language_model.h"

namespace modewise::models {

/// The config in the header; `source` starts error messages.
LanguageModelConfig llama2c_config(const io::Llama2cHeader& header, const std::string& source);

/// Copies the checkpoint's weights into a model of its config (any attention type); latents are unchanged.
void set_llama2c_weights(const io::Llama2cCheckpoint& checkpoint, LanguageModel& model);

}  // namespace modewise::models
