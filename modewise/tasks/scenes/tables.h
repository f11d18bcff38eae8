#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace modewise::tasks {

/// An evaluation (metrics.h evaluation_json) for the terminal; `detail` adds the confusion matrix.
std::string segment_text(const nlohmann::ordered_json& evaluation, bool detail);

/// A map that `predict` wrote (to_json of SceneMap).
std::string map_text(const nlohmann::ordered_json& map);

}  // namespace modewise::tasks
