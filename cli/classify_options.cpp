#include "cli/classify_options.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/class_tables.h"

namespace modewise::cli {

using report::Cell;

void ClassifyConfigOptions::add_to(CLI::App& command) {
  ConfigOptions::add_to(command, "volumes: MedMNIST NPZ, NPZ or NPY with labels, folder of NIfTI (data.path)",
                        "model (model.name): hot, transformer, timesformer, mvit, resnet18, resnet50");
}

tasks::ClassifyConfig load_classify_options(const std::string& file,
                                            const std::vector<std::string>& assignments) {
  tasks::ClassifyConfig config = tasks::load_classify_config(file, assignments);
  config.data.path = absolute_path(config.data.path);
  config.data.labels = config.data.labels.find('/') != std::string::npos ||
                               config.data.labels.ends_with(".csv") || config.data.labels.ends_with(".npy")
                           ? absolute_path(config.data.labels)
                           : config.data.labels;
  return config;
}

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

}  // namespace modewise::cli
