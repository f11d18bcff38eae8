#pragma once
// Texts about maps, and explanations of segmenters. The comparison of runs is in spec.h.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "modewise/tasks/run/explanation.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

/// Description of a map that predict_scene wrote.
std::string map_text(const nlohmann::ordered_json& map);

/// Attention maps, and occlusion of bands, dates and strips of a window. Uses windows of a split's areas. An
/// occluded band, date, or strip of rows or columns one patch thick is replaced by the window's mean of each
/// band; the effect is the mean absolute change of the class probabilities over pixels with data, for bands
/// also of each class.
Explanation explain_segmenter(Run& opened, const ExplainOptions& options);

}  // namespace modewise::tasks
