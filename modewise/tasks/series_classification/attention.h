#pragma once
// The attention of a classifier of series over the patches of its cases, as matrices.

#include "modewise/tasks/attention_matrices.h"

namespace modewise::tasks {

/// One matrix a case, the mean over variables whose patches are apart. Modes must hold the patches of a case;
/// where the last cells are empty, no smaller first mode may do. Usage errors: those modes, a model that does
/// not attend.
AttentionMatrices series_attention(const AttentionRequest& request);

}  // namespace modewise::tasks
