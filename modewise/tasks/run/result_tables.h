#pragma once
// Result tables for the terminal and for report pages.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/report/html_page.h"
#include "modewise/report/table.h"

namespace modewise::tasks {

/// A column of a table of JSON rows.
struct JsonColumn {
  static constexpr int kAsItIs = -1;  // strings and counts

  std::string name, key;  // "mse", or "scaled/mse" for nested objects
  int decimals = kAsItIs;
  double factor = 1;  // 100 for percent
  report::Column::Best best = report::Column::Best::none;
};
/// Cells of a JSON row; a dash for missing values.
std::vector<report::Cell> json_row(const std::vector<JsonColumn>& columns, const nlohmann::ordered_json& row);
report::Table json_table(const std::vector<JsonColumn>& columns, const nlohmann::ordered_json& rows);

struct ResultTable {
  std::string title;    // section heading in a page; "": none
  std::string caption;  // in a page
  report::Table table;
  std::vector<report::Figure> figures = {};  // below the table in a page
  bool detail = false;                       // printed only with details; pages show it
  std::string line = {};                     // above the table in the terminal
};
std::string tables_text(const std::vector<ResultTable>& tables, bool detail = false);
void add_tables(report::HtmlPage& page, const std::vector<ResultTable>& tables);

/// The evaluations of "validation", "test", and "train" and "all" if there are, each with its name in
/// "split".
nlohmann::ordered_json evaluated_parts(const nlohmann::ordered_json& metrics);

}  // namespace modewise::tasks
