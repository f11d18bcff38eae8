#pragma once
// Evaluations of named classes as tables for the terminal.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "modewise/report/table.h"

namespace modewise::cli {

/// json[key] in percent; a dash where it is no number.
report::Cell percent(const nlohmann::ordered_json& json, const char* key);

/// How often each class (rows) was taken for each (columns), from an evaluation's "classes" and "confusion".
report::Table confusion_table(const nlohmann::ordered_json& evaluation, const std::string& corner);

}  // namespace modewise::cli
