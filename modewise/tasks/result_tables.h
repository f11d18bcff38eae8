#pragma once
// Evaluations as tables: made once, printed in the terminal and set into pages.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/report/html_page.h"
#include "modewise/report/table.h"

namespace modewise::tasks {

/// A column of a table over JSON rows.
struct JsonColumn {
  static constexpr int kAsItIs = -1;  // texts and counts

  std::string name, key;  // "mse", or "scaled/mse" of an object in the row
  int decimals = kAsItIs;
  double factor = 1;  // 100 for percent
  report::Column::Best best = report::Column::Best::none;
};
/// A row for each of `rows`; a dash where one has no such number.
std::vector<report::Cell> json_row(const std::vector<JsonColumn>& columns, const nlohmann::ordered_json& row);
report::Table json_table(const std::vector<JsonColumn>& columns, const nlohmann::ordered_json& rows);

struct ResultTable {
  std::string title;    // the section that it opens in a page; "" for none
  std::string caption;  // in a page
  report::Table table;
  std::vector<report::Figure> figures = {};  // below it in a page
  bool detail = false;                       // shown where details are asked for; pages draw these
};
std::string tables_text(const std::vector<ResultTable>& tables, bool detail = false);
void add_tables(report::HtmlPage& page, const std::vector<ResultTable>& tables);

/// "validation" and "test" of metrics.json, as far as it has them; each says in "split" which it is.
nlohmann::ordered_json evaluated_parts(const nlohmann::ordered_json& metrics);

}  // namespace modewise::tasks
