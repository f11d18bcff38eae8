#pragma once
// The attention of a language model over windows of text, as matrices.

#include "modewise/tasks/attention_matrices.h"

namespace modewise::tasks {

/// Windows of Π modes tokens, side by side over the documents packed as for training; of a run of recall its
/// samples' beginnings. Usage errors: modes that are missing where the fold grows or is none, or that make
/// more tokens than the model's context; data error for a text that is shorter.
AttentionMatrices language_attention(const AttentionRequest& request);

}  // namespace modewise::tasks
