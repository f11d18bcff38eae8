#pragma once
// The options by which commands receive a language model's config, and its results as text.

#include <nlohmann/json_fwd.hpp>

#include "cli/config_options.h"
#include "modewise/tasks/language/config.h"

namespace modewise::cli {

struct LanguageConfigOptions : ConfigOptions {
  void add_to(CLI::App& command);
  std::vector<std::string> all_assignments() const override;

 private:
  std::vector<std::string> short_forms_;
};

tasks::LanguageConfig load_language_options(const std::string& file,
                                            const std::vector<std::string>& assignments);

/// The validation and test figures of metrics.json for the terminal.
std::string language_text(const nlohmann::ordered_json& metrics);
/// Accuracy of recall by distance and number of pairs.
std::string recall_text(const nlohmann::ordered_json& scores);

}  // namespace modewise::cli
