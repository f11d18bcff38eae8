#pragma once
// The results of `modewise cost` as tables, JSON and figures.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/cost_entries.h"
#include "modewise/report/figure.h"
#include "modewise/report/table.h"

namespace modewise::cli {

report::Table cost_table(const std::vector<CostEntry>& entries);
report::Table measured_table(const std::vector<CostEntry>& entries);
report::Table growth_table(const std::vector<CostGrowth>& growth);
/// The parts of one entry, of the whole model or layer by layer.
report::Table parts_table(const CostEntry& entry, bool layers);
nlohmann::ordered_json cost_json(const std::vector<CostEntry>& entries);
/// File names without ending, and figures: by size where there are several, else by mechanism.
std::vector<std::pair<std::string, report::Figure>> cost_figures(const std::vector<CostEntry>& entries);

}  // namespace modewise::cli
