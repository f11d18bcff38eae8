#pragma once
// Figures of classifications, of whatever is classified.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/metrics/class_metrics.h"
#include "modewise/report/figure.h"

namespace modewise::tasks {

/// The confusion matrix of an evaluation (to_json of ClassMetrics).
report::HeatMap confusion_figure(const nlohmann::ordered_json& evaluation, const std::string& title);

/// A ROC curve a class against the rest; of two classes that of the second.
report::LineChart roc_figure(const metrics::ScoreTable& table, const std::vector<std::string>& classes);

}  // namespace modewise::tasks
