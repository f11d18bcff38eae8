#include "modewise/tasks/scenes/tables.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/tasks/labelled/class_tables.h"

namespace modewise::tasks {

using report::Cell;

std::string segment_text(const nlohmann::ordered_json& evaluation, bool detail) {
  std::string text = fmt::format("{}: {} pixels\n\n", evaluation["split"].get<std::string>(),
                                 Cell::count(evaluation["pixels"].get<int64_t>()).text());
  report::Table all({{"accuracy %"}, {"mean IoU %"}, {"micro IoU %"}, {"mean recall %"}, {"kappa"}});
  const auto& kappa = evaluation["kappa"];
  all.add_row({percent(evaluation, "accuracy"), percent(evaluation, "mean_iou"),
               percent(evaluation, "micro_iou"), percent(evaluation, "mean_recall"),
               Cell(kappa.is_number() ? kappa.get<double>() : std::nan(""), 3)});
  text += all.to_text();
  report::Table classes({{"id"}, {"class"}, {"pixels"}, {"IoU %"}, {"precision %"}, {"recall %"}});
  for (const auto& one : evaluation["classes"])
    classes.add_row({one["id"].get<int64_t>(), one["name"].get<std::string>(),
                     Cell::count(one["pixels"].get<int64_t>()), percent(one, "iou"),
                     percent(one, "precision"), percent(one, "recall")});
  text += "\n" + classes.to_text();
  return detail ? text + "\n" + confusion_table(evaluation, "true \\ called").to_text() : text;
}

std::string map_text(const nlohmann::ordered_json& map) {
  std::string text =
      fmt::format("{}: {} × {} pixels{}\n{}\n\n", map["map"].get<std::string>(), map["height"].get<int64_t>(),
                  map["width"].get<int64_t>(), map["crs"] == "" ? "" : ", " + map["crs"].get<std::string>(),
                  map["picture"].get<std::string>());
  report::Table table({{"id"}, {"class"}, {"pixels"}, {"share %"}});
  for (const nlohmann::ordered_json& one : map["classes"])
    table.add_row({one["id"].get<int64_t>(), one["name"].get<std::string>(),
                   Cell::count(one["pixels"].get<int64_t>()), Cell(100 * one["share"].get<double>(), 2)});
  if (map["without_data"] != 0)
    table.add_row(
        {map["nodata"].get<int64_t>(), "no data", Cell::count(map["without_data"].get<int64_t>()), ""});
  return text + table.to_text();
}

}  // namespace modewise::tasks
