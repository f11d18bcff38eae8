#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace modewise::tasks {

/// An evaluation (to_json of ClassMetrics) for the terminal; `detail` adds classes and confusion matrix.
std::string series_text(const nlohmann::ordered_json& evaluation, bool detail);

}  // namespace modewise::tasks
