#pragma once

#include "modewise/tasks/captioning/run.h"
#include "modewise/tasks/explanation.h"

namespace modewise::tasks {

/// What moves the words of captions: rows and columns of the pictures, or of their features, that become the
/// mean one by one. The effect is on the probabilities of each next word of the first caption that people
/// wrote.
Explanation explain_captions(const CaptioningRun& run, const data::CaptionSet& set,
                             const ExplainOptions& options);

}  // namespace modewise::tasks
