#pragma once
// What a classifier of series attends to, and which variables and stretches of time move its decision.

#include "modewise/tasks/explanation.h"
#include "modewise/tasks/labelled_series/run.h"

namespace modewise::tasks {

/// Looks at cases of a split in evaluation mode. A variable, or a stretch of steps as long as the step
/// between patches, is taken away by putting the variable's mean over the case in its place; the effect is
/// the mean absolute change of the probabilities of the classes.
Explanation explain_series(const SeriesRun& run, const data::SeriesCollection& set,
                           const ExplainOptions& options);

}  // namespace modewise::tasks
