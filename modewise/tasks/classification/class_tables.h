#pragma once
// Tables of classifier evaluations, for the terminal and the report.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/data/labelled_samples.h"
#include "modewise/report/table.h"
#include "modewise/tasks/run/result.h"
#include "modewise/tasks/run/result_tables.h"

namespace modewise::tasks {

/// Confusion matrix (rows: true class, columns: predicted) from an evaluation's "classes" and "confusion".
report::Table confusion_table(const nlohmann::ordered_json& evaluation, const std::string& corner);

/// Tables of evaluations (to_json of ClassMetrics): overall metrics of each; metrics by class (as a detail if
/// there are many classes) and confusion matrix of the last. `many`: noun for the samples.
std::vector<ResultTable> evaluation_tables(const nlohmann::ordered_json& evaluations,
                                           const std::string& many);
std::string evaluation_text(const nlohmann::ordered_json& evaluation, const std::string& many, bool detail);

/// Description of a set: `head` and `line` describe its samples, followed by notes and a table of class
/// counts (rows: classes, columns: splits).
Result describe_set(const data::LabelledSamples& set, nlohmann::ordered_json head, const std::string& line);

}  // namespace modewise::tasks
