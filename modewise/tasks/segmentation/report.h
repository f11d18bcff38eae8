#pragma once
// What segmenters come to: evaluations and maps as tables, the page of a run: how good it is, class by class,
// and what it makes of the test areas, in pictures. The comparison of runs is in kind.h.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/tasks/explanation.h"
#include "modewise/tasks/result_tables.h"
#include "modewise/tasks/segmentation/run.h"

namespace modewise::tasks {

/// Evaluations (metrics.h evaluation_json), a row each; then the classes of the last one, and its confusion.
std::vector<ResultTable> segment_tables(const nlohmann::ordered_json& evaluations);

/// A map that predict_scene wrote.
std::string map_text(const nlohmann::ordered_json& map);

/// Needs a finished run and its data.
void write_segment_report(const SegmentationRun& run, const data::SegmentationSet& set, const std::filesystem::path& out);

/// What a segmenter attends to, and which bands, dates and places of a window move its class map.
/// Looks at windows of a split's areas in evaluation mode. A band, a date, or a strip of rows or columns one
/// patch thick is taken away by putting the window's mean of each band in its place; the effect is the mean
/// absolute change of the probabilities of the classes over the pixels that have data, for bands also of each
/// class.
Explanation explain_segmenter(const SegmentationRun& run, const data::SegmentationSet& set,
                              const ExplainOptions& options);

}  // namespace modewise::tasks
