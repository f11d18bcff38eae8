#pragma once
// Reports of language modelling runs: tables and figures of evaluations, and the report page. The comparison
// of runs is in spec.h.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/tasks/language_modeling/run.h"
#include "modewise/tasks/result_tables.h"

namespace modewise::tasks {

/// Tables of metrics.json: loss or recall, and results beyond the trained length.
std::vector<ResultTable> language_tables(const nlohmann::ordered_json& metrics);
/// The tables as text with a heading, for the terminal.
std::string language_text(const nlohmann::ordered_json& metrics);
/// Tables of `evaluate` (evaluate.h): "own" metrics, "recall" or "perplexity" by length, "passkey", "tasks".
std::vector<ResultTable> evaluation_tables(const nlohmann::ordered_json& result);

/// Writes the report of a finished run: data, metrics, learning curves.
void write_language_report(const LanguageModelingRun& run, const std::filesystem::path& out);

}  // namespace modewise::tasks
