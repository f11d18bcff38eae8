#pragma once
// The options by which commands receive the config of a run that classifies series, and its results as text.

#include <nlohmann/json_fwd.hpp>

#include "cli/config_options.h"
#include "modewise/tasks/labelled_series/config.h"

namespace modewise::cli {

struct SeriesConfigOptions : ConfigOptions {
  void add_to(CLI::App& command);
  std::vector<std::string> all_assignments() const override;

 private:
  std::vector<std::string> short_forms_;
};

tasks::LabelledSeriesConfig load_series_options(const std::string& file,
                                                const std::vector<std::string>& assignments);

/// An evaluation (tasks/labelled/class_metrics.h to_json) for the terminal; `detail` adds the confusion
/// matrix.
std::string series_text(const nlohmann::ordered_json& evaluation, bool detail);

}  // namespace modewise::cli
