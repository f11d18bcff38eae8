#include "cli/segment_options.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/report/table.h"

namespace modewise::cli {
namespace {

using report::Cell;

Cell percent(const nlohmann::ordered_json& json, const char* key) {
  return Cell(json[key].is_number() ? 100 * json[key].get<double>() : std::nan(""), 1);
}

}  // namespace

void SegmentConfigOptions::add_to(CLI::App& command) {
  ConfigOptions::add_to(command, "image (GeoTIFF or NPY), folder of images, or SSL4EO-L folder (data.path)",
                        "model (model.name): hot, transformer, unet");
  command.add_option("--masks", masks, "its mask of class ids, or the folder of masks (data.masks)");
}

tasks::SegmentConfig load_segment_options(const std::string& file, std::vector<std::string> assignments,
                                          const std::string& masks) {
  if (!masks.empty()) assignments.push_back("data.masks=" + masks);
  tasks::SegmentConfig config = tasks::load_segment_config(file, std::move(assignments));
  config.data.path = absolute_path(config.data.path);
  config.data.masks = absolute_path(config.data.masks);
  return config;
}

std::string segment_config_help() {
  tasks::SegmentConfig defaults;
  return "Keys of --config and --set, with their defaults:\n\n" + fields_of(defaults).to_toml(true);
}

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
  if (!detail) return text;
  std::vector<report::Column> columns = {{"true \\ called"}};
  for (const auto& one : evaluation["classes"]) columns.push_back({one["name"].get<std::string>()});
  report::Table confusion(columns);
  for (size_t k = 0; k < evaluation["classes"].size(); ++k) {
    std::vector<Cell> cells = {evaluation["classes"][k]["name"].get<std::string>()};
    for (const auto& count : evaluation["confusion"][k]) cells.push_back(Cell::count(count.get<int64_t>()));
    confusion.add_row(std::move(cells));
  }
  return text + "\n" + confusion.to_text();
}

}  // namespace modewise::cli
