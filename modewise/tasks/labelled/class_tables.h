#pragma once
// Evaluations of classes as tables: the terminal and the report print the same ones.

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/labelled_samples.h"
#include "modewise/report/table.h"
#include "modewise/tasks/result.h"

namespace modewise::tasks {

/// json[key] in percent; a dash where it is no number.
report::Cell percent(const nlohmann::ordered_json& json, const char* key);

/// How often each class (rows) was taken for each (columns), from an evaluation's "classes" and "confusion".
report::Table confusion_table(const nlohmann::ordered_json& evaluation, const std::string& corner);

/// All classes together, a row an evaluation (to_json of ClassMetrics); `many`: what the samples are called.
report::Table score_table(std::span<const nlohmann::ordered_json> evaluations, const std::string& many);
/// A row a class.
report::Table class_table(const nlohmann::ordered_json& evaluation, const std::string& many);
/// Both, the second where the classes are few; with `detail` in any case, and the confusion matrix.
std::string evaluation_text(const nlohmann::ordered_json& evaluation, const std::string& many, bool detail);

/// What a set holds: `head` and `line` say what its samples are; notes, and the samples of each class (rows)
/// in each split (columns) follow.
Result describe_set(const data::LabelledSamples& set, nlohmann::ordered_json head, const std::string& line);

}  // namespace modewise::tasks
