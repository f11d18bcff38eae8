#include "cli/segment_options.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/class_tables.h"

namespace modewise::cli {

using report::Cell;

void SegmentConfigOptions::add_to(CLI::App& command) {
  ConfigOptions::add_to(command, "image (GeoTIFF or NPY), folder of images, or SSL4EO-L folder (data.path)",
                        "model (model.name): hot, transformer, unet");
  command.add_option("--masks", masks, "its mask of class ids, or the folder of masks (data.masks)");
}

std::vector<std::string> SegmentConfigOptions::all_assignments() const {
  std::vector<std::string> all = ConfigOptions::all_assignments();
  if (!masks.empty()) all.push_back("data.masks=" + masks);
  return all;
}

tasks::SegmentConfig load_segment_options(const std::string& file,
                                          const std::vector<std::string>& assignments) {
  tasks::SegmentConfig config = tasks::load_segment_config(file, assignments);
  config.data.path = absolute_path(config.data.path);
  config.data.masks = absolute_path(config.data.masks);
  return config;
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
  return detail ? text + "\n" + confusion_table(evaluation, "true \\ called").to_text() : text;
}

}  // namespace modewise::cli
