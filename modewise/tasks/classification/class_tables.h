#pragma once
// Evaluations of classes as tables: the terminal and the report print the same ones.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/data/labelled_samples.h"
#include "modewise/report/table.h"
#include "modewise/tasks/result.h"
#include "modewise/tasks/result_tables.h"

namespace modewise::tasks {

/// How often each class (rows) was taken for each (columns), from an evaluation's "classes" and "confusion".
report::Table confusion_table(const nlohmann::ordered_json& evaluation, const std::string& corner);

/// Of evaluations (to_json of ClassMetrics) all classes together, of the last one each class, by itself where
/// they are few, and the confusion matrix; `many`: what the samples are called.
std::vector<ResultTable> evaluation_tables(const nlohmann::ordered_json& evaluations,
                                           const std::string& many);
std::string evaluation_text(const nlohmann::ordered_json& evaluation, const std::string& many, bool detail);

/// What a set holds: `head` and `line` say what its samples are; notes, and the samples of each class (rows)
/// in each split (columns) follow.
Result describe_set(const data::LabelledSamples& set, nlohmann::ordered_json head, const std::string& line);

}  // namespace modewise::tasks
