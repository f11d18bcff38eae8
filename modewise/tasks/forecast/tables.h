#pragma once
// What forecasts and their data come to, as tables.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "modewise/data/forecast/describe.h"

namespace modewise::tasks {

/// An evaluation (evaluate.h): overall errors, coverage and each horizon; `detail` adds the tables per series
/// and per step.
std::string forecast_text(const nlohmann::ordered_json& evaluation, bool detail);

std::string description_text(const data::Description& description);

}  // namespace modewise::tasks
