#pragma once
// The options by which commands receive a segmentation config, and its results as text.

#include <nlohmann/json_fwd.hpp>

#include "cli/config_options.h"
#include "modewise/tasks/scenes/config.h"

namespace modewise::cli {

struct SegmentConfigOptions : ConfigOptions {
  std::string masks;
  void add_to(CLI::App& command);
  std::vector<std::string> all_assignments() const override;
};

tasks::SegmentConfig load_segment_options(const std::string& file,
                                          const std::vector<std::string>& assignments);

/// An evaluation (tasks/scenes/metrics.h evaluation_json) for the terminal; `detail` adds the confusion
/// matrix.
std::string segment_text(const nlohmann::ordered_json& evaluation, bool detail);

}  // namespace modewise::cli
