#pragma once
// report.html of segmentation: how good a run is, class by class, and what it makes of the test areas, in
// pictures.

#include <filesystem>

#include "modewise/tasks/scenes/run.h"

namespace modewise::tasks {

/// Needs a finished run and its data.
void write_segment_report(const SegmentRun& run, const data::SceneSet& set, const std::filesystem::path& out);

}  // namespace modewise::tasks
