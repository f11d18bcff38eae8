#include "modewise/tasks/volumes/tables.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/tasks/labelled/class_tables.h"

namespace modewise::tasks {

using report::Cell;

std::string classify_text(const nlohmann::ordered_json& evaluation, bool detail) {
  std::string text = fmt::format("{}: {} volumes\n\n", evaluation["split"].get<std::string>(),
                                 Cell::count(evaluation["samples"].get<int64_t>()).text());
  report::Table all({{"AUC %"}, {"accuracy %"}, {"balanced %"}, {"log loss"}});
  all.add_row({percent(evaluation, "auc"), percent(evaluation, "accuracy"),
               percent(evaluation, "balanced_accuracy"), Cell(evaluation["loss"].get<double>(), 3)});
  text += all.to_text();
  report::Table classes({{"class"}, {"volumes"}, {"AUC %"}, {"recall %"}, {"precision %"}});
  for (const auto& one : evaluation["classes"])
    classes.add_row({one["name"].get<std::string>(), one["samples"].get<int64_t>(), percent(one, "auc"),
                     percent(one, "recall"), percent(one, "precision")});
  text += "\n" + classes.to_text();
  return detail ? text + "\n" + confusion_table(evaluation, "true \\ predicted").to_text() : text;
}

}  // namespace modewise::tasks
