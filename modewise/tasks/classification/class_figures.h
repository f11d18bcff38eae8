#pragma once
// Figures of classifiers: confusion matrix and ROC curves.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/metrics/class_metrics.h"
#include "modewise/report/figure.h"

namespace modewise::tasks {

/// Confusion matrix of an evaluation (to_json of ClassMetrics).
report::HeatMap confusion_figure(const nlohmann::ordered_json& evaluation, const std::string& title);

/// One-vs-rest ROC curves; for two classes the curve of the second.
report::LineChart roc_figure(const metrics::ScoreTable& table, const std::vector<std::string>& classes);

}  // namespace modewise::tasks
