#pragma once
// llama2.c's checkpoints as language models. It rotates neighbouring rows of a head, Hugging Face and this
// program the halves of a head: rows of query and key weights are put in the other order on the way.

#include <filesystem>
#include <string>

#include "modewise/io/arrays/llama2c_checkpoint.h"
#include "modewise/models/language_modeling/language_model.h"

namespace modewise::models {

/// The config that the header says; `source` opens errors.
LanguageModelConfig llama2c_config(const io::Llama2cHeader& header, const std::string& source);

/// Copies the checkpoint's weights into a model of its config (attention of any form); latents stay as they
/// are.
void set_llama2c_weights(const io::Llama2cCheckpoint& checkpoint, LanguageModel& model);

}  // namespace modewise::models
