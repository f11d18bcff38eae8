#pragma once
// Attention matrices of series classifiers over the patches of their samples.

#include "modewise/tasks/run/attention_matrices.h"

namespace modewise::tasks {

/// One matrix per sample, the mean over variables if they have separate patches. The modes must fit the
/// patches of a sample with the smallest possible first mode. Usage errors: other modes, a model without
/// attention.
AttentionMatrices series_attention(const AttentionRequest& request);

}  // namespace modewise::tasks
