#include "modewise/tasks/labelled/class_tables.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace modewise::tasks {

report::Cell percent(const nlohmann::ordered_json& json, const char* key) {
  return report::Cell(json[key].is_number() ? 100 * json[key].get<double>() : std::nan(""), 1);
}

report::Table confusion_table(const nlohmann::ordered_json& evaluation, const std::string& corner) {
  std::vector<report::Column> columns = {{corner}};
  for (const auto& one : evaluation["classes"]) columns.push_back({one["name"].get<std::string>()});
  report::Table confusion(columns);
  for (size_t k = 0; k < evaluation["classes"].size(); ++k) {
    std::vector<report::Cell> cells = {evaluation["classes"][k]["name"].get<std::string>()};
    for (const auto& count : evaluation["confusion"][k]) cells.emplace_back(count.get<int64_t>());
    confusion.add_row(std::move(cells));
  }
  return confusion;
}

}  // namespace modewise::tasks
