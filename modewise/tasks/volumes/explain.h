#pragma once
// What a volume classifier attends to, and which places along each axis move its decision.

#include "modewise/tasks/explanation.h"
#include "modewise/tasks/volumes/run.h"

namespace modewise::tasks {

/// Looks at volumes of a split in evaluation mode. A slab of voxels, one patch thick, is taken away by
/// putting the volume's mean in its place; the effect is the mean absolute change of the probabilities of the
/// classes.
Explanation explain_classifier(const ClassifyRun& run, const data::VolumeSet& set,
                               const ExplainOptions& options);

}  // namespace modewise::tasks
