#include "modewise/tasks/labelled_series/tables.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/tasks/labelled/class_tables.h"

namespace modewise::tasks {

using report::Cell;

std::string series_text(const nlohmann::ordered_json& evaluation, bool detail) {
  std::string text = fmt::format("{}: {} cases\n\n", evaluation["split"].get<std::string>(),
                                 Cell::count(evaluation["samples"].get<int64_t>()).text());
  report::Table all({{"accuracy %"}, {"balanced %"}, {"AUC %"}, {"log loss"}});
  all.add_row({percent(evaluation, "accuracy"), percent(evaluation, "balanced_accuracy"),
               percent(evaluation, "auc"), Cell(evaluation["loss"].get<double>(), 3)});
  text += all.to_text();
  if (!detail) return text;
  report::Table classes({{"class"}, {"cases"}, {"recall %"}, {"precision %"}, {"AUC %"}});
  for (const auto& one : evaluation["classes"])
    classes.add_row({one["name"].get<std::string>(), one["samples"].get<int64_t>(), percent(one, "recall"),
                     percent(one, "precision"), percent(one, "auc")});
  return text + "\n" + classes.to_text() + "\n" + confusion_table(evaluation, "true \\ predicted").to_text();
}

}  // namespace modewise::tasks
