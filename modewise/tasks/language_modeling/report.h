#pragma once
// What language models come to: evaluations as tables with their figures, and the page of a run. The
// comparison of runs is in kind.h.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/tasks/language_modeling/run.h"
#include "modewise/tasks/result_tables.h"

namespace modewise::tasks {

/// metrics.json of a run: how well it predicts or recalls, and what it does beyond its trained length.
std::vector<ResultTable> language_tables(const nlohmann::ordered_json& metrics);
/// What stands above them in the terminal, and they.
std::string language_text(const nlohmann::ordered_json& metrics);
/// What `evaluate` measured (evaluation.h): "own" figures, "recall" or "perplexity" at lengths, "passkey"s,
/// "tasks".
std::vector<ResultTable> evaluation_tables(const nlohmann::ordered_json& result);

/// Needs a finished run: what it was trained on, how well it predicts, how it learnt.
void write_language_report(const LanguageModelingRun& run, const std::filesystem::path& out);

}  // namespace modewise::tasks
