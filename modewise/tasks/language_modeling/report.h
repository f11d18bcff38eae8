#pragma once
// Tables and figures of `evaluate` for language models. Those of a run are in run.h, the comparison of runs
// in spec.h.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "modewise/tasks/run/result_tables.h"

namespace modewise::tasks {

/// Tables of `evaluate` (evaluate.h): "own" metrics, "recall" or "perplexity" by length, "passkey", "tasks".
std::vector<ResultTable> evaluation_tables(const nlohmann::ordered_json& result);

}  // namespace modewise::tasks
