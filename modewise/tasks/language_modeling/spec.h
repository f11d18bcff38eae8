#pragma once

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

extern const TaskSpec language_modeling_spec;
/// Comparison of finished runs of `train language`.
const Comparison& language_comparison();
/// Attention over adjacent windows of Π modes tokens of packed documents; for recall runs over the first
/// tokens of samples. Usage errors: missing modes if there is no fold or it grows, more tokens than the
/// context; data error for a shorter text.
AttentionMatrices language_attention(const AttentionRequest& request);

}  // namespace modewise::tasks
