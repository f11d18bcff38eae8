#pragma once
// Evaluations of named classes as tables for the terminal.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/report/table.h"

namespace modewise::tasks {

/// json[key] in percent; a dash where it is no number.
report::Cell percent(const nlohmann::ordered_json& json, const char* key);

/// How often each class (rows) was taken for each (columns), from an evaluation's "classes" and "confusion".
report::Table confusion_table(const nlohmann::ordered_json& evaluation, const std::string& corner);

inline const std::vector<std::string> kSplits = {"train", "validation", "test"};

/// Samples of each class (rows) in each split (columns) of a set of volumes or series, and of all classes.
template <class Set>
report::Table class_count_table(const Set& set) {
  std::vector<report::Column> columns = {{"class"}};
  for (const std::string& split : kSplits) columns.push_back({split});
  report::Table table(columns);
  for (size_t k = 0; k < set.classes.size(); ++k) {
    std::vector<report::Cell> cells = {set.classes[k]};
    for (const std::string& split : kSplits) cells.emplace_back(set.class_counts(set.split(split))[k]);
    table.add_row(std::move(cells));
  }
  table.add_rule();
  std::vector<report::Cell> cells = {"all"};
  for (const std::string& split : kSplits) cells.emplace_back(std::ssize(set.split(split)));
  table.add_row(std::move(cells));
  return table;
}

}  // namespace modewise::tasks
