#pragma once

#include "modewise/tasks/run/attention_matrices.h"

namespace modewise::tasks {

/// Attention over the first Π modes tokens of each text that is long enough. Usage errors: missing modes if
/// the attention has no fold or a growing one; an attention type without matrices. Data error if no text is
/// long enough.
AttentionMatrices text_attention(const AttentionRequest& request);

}  // namespace modewise::tasks
