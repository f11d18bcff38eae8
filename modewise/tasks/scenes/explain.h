#pragma once
// What a segmenter attends to, and which bands, dates and places of a window move its class map.

#include "modewise/tasks/explanation.h"
#include "modewise/tasks/scenes/run.h"

namespace modewise::tasks {

/// Looks at windows of a split's areas in evaluation mode. A band, a date, or a strip of rows or columns one
/// patch thick is taken away by putting the window's mean of each band in its place; the effect is the mean
/// absolute change of the probabilities of the classes over the pixels that have data, for bands also of each
/// class.
Explanation explain_segmenter(const SegmentRun& run, const data::SceneSet& set,
                              const ExplainOptions& options);

}  // namespace modewise::tasks
