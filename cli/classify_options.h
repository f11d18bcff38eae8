#pragma once
// The options by which commands receive a classification config, and its results as text.

#include <nlohmann/json_fwd.hpp>

#include "cli/config_options.h"
#include "modewise/tasks/volumes/config.h"

namespace modewise::cli {

struct ClassifyConfigOptions : ConfigOptions {
  void add_to(CLI::App& command);
};

tasks::ClassifyConfig load_classify_options(const std::string& file,
                                            const std::vector<std::string>& assignments);

/// An evaluation (tasks/labelled/class_metrics.h to_json) for the terminal; `detail` adds the confusion
/// matrix.
std::string classify_text(const nlohmann::ordered_json& evaluation, bool detail);

}  // namespace modewise::cli
