#include "modewise/tasks/run/result_tables.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace modewise::tasks {

using Json = nlohmann::ordered_json;

std::vector<report::Cell> json_row(const std::vector<JsonColumn>& columns, const Json& row) {
  std::vector<report::Cell> cells;
  for (const JsonColumn& column : columns) {
    const Json value = row.value(Json::json_pointer("/" + column.key), Json());
    if (value.is_string())
      cells.emplace_back(value.get<std::string>());
    else if (!value.is_number())
      cells.emplace_back(std::nan(""), std::max(column.decimals, 0));
    else if (column.decimals == JsonColumn::kAsItIs)
      cells.push_back(report::Cell::count(value.get<int64_t>()));
    else
      cells.emplace_back(column.factor * value.get<double>(), column.decimals);
  }
  return cells;
}

report::Table json_table(const std::vector<JsonColumn>& columns, const Json& rows) {
  std::vector<report::Column> names;
  for (const JsonColumn& column : columns) names.push_back({column.name, column.best});
  report::Table table(names);
  for (const Json& row : rows) table.add_row(json_row(columns, row));
  return table;
}

std::string tables_text(const std::vector<ResultTable>& tables, bool detail) {
  std::string text;
  for (const ResultTable& one : tables)
    if (detail || !one.detail) text += (text.empty() ? "" : "\n") + one.line + one.table.to_text();
  return text;
}

void add_tables(report::HtmlPage& page, const std::vector<ResultTable>& tables) {
  for (const ResultTable& one : tables) {
    if (one.detail) continue;
    if (!one.title.empty()) page.add_section(one.title);
    page.add_table(one.table, one.caption);
    std::vector<report::CaptionedFigure> grid;
    for (const report::Figure& figure : one.figures) grid.push_back({figure, ""});
    if (grid.size() > 1)
      page.add_figure_grid(grid);
    else if (!grid.empty())
      page.add_figure(one.figures.front());
  }
}

Json evaluated_parts(const Json& metrics) {
  Json parts = Json::array();
  for (const char* part : {"train", "validation", "test", "all"}) {
    if (!metrics.contains(part)) continue;
    parts.push_back(metrics[part]);
    parts.back()["split"] = part;
  }
  return parts;
}

}  // namespace modewise::tasks
