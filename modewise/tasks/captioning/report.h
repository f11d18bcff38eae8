#pragma once
// What captioners come to: evaluations as tables, the page of a run, and runs side by side.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/tasks/captioning/run.h"
#include "modewise/tasks/comparison.h"
#include "modewise/tasks/result_tables.h"

namespace modewise::tasks {

/// Rows of judged parts (run.h), one a part.
std::vector<ResultTable> caption_tables(const nlohmann::ordered_json& parts);
/// The parts of metrics.json: training, validation where pictures were held back, test.
nlohmann::ordered_json caption_parts(const nlohmann::ordered_json& metrics);

/// Needs a finished run: how good its captions are, how it learnt, pictures with their captions and, word by
/// word, where attention looked. `set`: its own pictures.
void write_caption_report(const CaptioningRun& run, const data::CaptionSet& set,
                          const std::filesystem::path& out);

/// Finished runs of `train caption` side by side.
const Comparison& caption_comparison();

}  // namespace modewise::tasks
