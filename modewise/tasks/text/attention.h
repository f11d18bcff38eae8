#pragma once

#include "modewise/tasks/attention_matrices.h"

namespace modewise::tasks {

/// The attention over the first Π modes tokens of each text that has so many. Usage errors: modes that are
/// missing where the attention folds nothing or its fold grows; a form that makes no matrices. Data error
/// where no text is long enough.
AttentionMatrices text_attention(const AttentionRequest& request);

}  // namespace modewise::tasks
