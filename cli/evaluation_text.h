#pragma once
// An evaluation's JSON (tasks/forecast/evaluate.h) as text for the terminal.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace modewise::cli {

/// Overall errors, coverage and each horizon; `detail` adds the tables per series and per step.
std::string evaluation_text(const nlohmann::ordered_json& evaluation, bool detail);

}  // namespace modewise::cli
