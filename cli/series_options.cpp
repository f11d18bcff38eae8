#include "cli/series_options.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <nlohmann/json.hpp>

#include "cli/class_tables.h"

namespace modewise::cli {

using report::Cell;

void SeriesConfigOptions::add_to(CLI::App& command) {
  ConfigOptions::add_to(command,
                        "folder with X_TRAIN.ts and X_TEST.ts, one of the two, or motifs (data.path)",
                        "model (model.name): patchtst, nearest, dlinear, tcn, resnet");
  const auto short_form = [&](const char* name, const char* key, const char* help) {
    command.add_option_function<std::string>(
        name,
        [this, key](const std::string& value) { short_forms_.push_back(std::string(key) + "=" + value); },
        fmt::format("{} ({})", help, key));
  };
  short_form("--train", "data.train", "training file, .ts");
  short_form("--test", "data.test", "test file, .ts");
  short_form("--protocol", "data.protocol", "official, paper or tslib");
  short_form("--attention", "model.attention.form", "full, axial, pooled or causal");
  short_form("--fold", "model.attention.fold", "sizes such as 0,32");
}

std::vector<std::string> SeriesConfigOptions::all_assignments() const {
  std::vector<std::string> all = short_forms_;
  const std::vector<std::string> others = ConfigOptions::all_assignments();
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

tasks::LabelledSeriesConfig load_series_options(const std::string& file,
                                                const std::vector<std::string>& assignments) {
  tasks::LabelledSeriesConfig config = tasks::load_series_config(file, assignments);
  if (!config.data.is_simulated()) config.data.path = absolute_path(config.data.path);
  config.data.train = absolute_path(config.data.train);
  config.data.test = absolute_path(config.data.test);
  return config;
}

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

}  // namespace modewise::cli
