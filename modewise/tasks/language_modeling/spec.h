#pragma once

#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec language_modeling_spec;
/// Finished runs of `train language` side by side.
const Comparison& language_comparison();
/// The attention over windows of Π modes tokens, side by side over the documents packed as for training; of a
/// run of recall over its samples' beginnings. Usage errors: modes that are missing where the fold grows or
/// is none, or that make more tokens than the model's context; data error for a text that is shorter.
AttentionMatrices language_attention(const AttentionRequest& request);

}  // namespace modewise::tasks
