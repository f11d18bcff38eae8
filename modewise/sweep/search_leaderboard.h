#pragma once
// Ranking of the results of a search.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "modewise/sweep/search.h"

namespace modewise::sweep {

/// Adds results in their order by `metric`; the later stage is first among equals.
void add_results(std::vector<TrialResult> now, const SweepMetric& metric, SearchOutcome& to);

/// Contents of leaderboard.json in the folder `out` of a search: one row per result.
nlohmann::ordered_json leaderboard_json(const SearchOutcome& outcome, const SweepMetric& metric,
                                        const std::filesystem::path& out);

}  // namespace modewise::sweep
