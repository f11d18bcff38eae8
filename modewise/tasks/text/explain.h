#pragma once
// Explanation of text runs: attention maps over tokens, and occlusion of tokens.

#include "modewise/tasks/run/explanation.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

/// TaskSpec::explain: attention matrices of texts over their own tokens, tables of the largest weights, and
/// the change of the prediction when a token is masked.
Explanation explain_text(Run& run, const ExplainOptions& options);

}  // namespace modewise::tasks
