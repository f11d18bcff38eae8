#pragma once
// What language models come to, for the terminal.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/report/table.h"
#include "modewise/tasks/language/passkey.h"

namespace modewise::tasks {

/// The scores of recall (to_json of RecallScores).
std::string recall_text(const nlohmann::ordered_json& scores);
/// metrics.json of a run.
std::string language_text(const nlohmann::ordered_json& metrics);
/// {"split", "scores"} of a run's own text.
std::string own_scores_text(const nlohmann::ordered_json& own);
report::Table passkey_table(const std::vector<PasskeyCell>& cells);
/// Every task of `evaluate --tasks`.
std::string questions_text(const nlohmann::ordered_json& all);

}  // namespace modewise::tasks
