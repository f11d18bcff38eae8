#pragma once
// Reports of captioning runs: tables of evaluations, the report page, and the comparison of runs.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/tasks/captioning/run.h"
#include "modewise/tasks/comparison.h"
#include "modewise/tasks/result_tables.h"

namespace modewise::tasks {

/// Tables of evaluated splits (run.h), one row each.
std::vector<ResultTable> caption_tables(const nlohmann::ordered_json& parts);
/// Evaluated splits in metrics.json: training, validation if it is not empty, test.
nlohmann::ordered_json caption_parts(const nlohmann::ordered_json& metrics);

/// Writes the report of a finished run: metrics, learning curves, images with captions and attention maps by
/// word. `set`: the run's own images.
void write_caption_report(const CaptioningRun& run, const data::CaptionSet& set,
                          const std::filesystem::path& out);

/// Comparison of finished runs of `train caption`.
const Comparison& caption_comparison();

}  // namespace modewise::tasks
