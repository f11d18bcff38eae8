#pragma once
// Reports of segmentation runs: tables of evaluations and maps, the report page with metrics by class and
// figures of test areas, and explanations. The comparison of runs is in spec.h.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/tasks/explanation.h"
#include "modewise/tasks/result_tables.h"
#include "modewise/tasks/segmentation/run.h"

namespace modewise::tasks {

/// Tables of evaluations (metrics.h evaluation_json): one row each; then classes and confusion matrix of the
/// last one.
std::vector<ResultTable> segment_tables(const nlohmann::ordered_json& evaluations);

/// Description of a map that predict_scene wrote.
std::string map_text(const nlohmann::ordered_json& map);

/// Writes the report of a finished run.
void write_segment_report(const SegmentationRun& run, const data::SegmentationSet& set,
                          const std::filesystem::path& out);

/// Attention maps, and occlusion of bands, dates and strips of a window. Uses windows of a split's areas in
/// evaluation mode. An occluded band, date, or strip of rows or columns one patch thick is replaced by the
/// window's mean of each band; the effect is the mean absolute change of the class probabilities over pixels
/// with data, for bands also of each class.
Explanation explain_segmenter(const SegmentationRun& run, const data::SegmentationSet& set,
                              const ExplainOptions& options);

}  // namespace modewise::tasks
