#include "modewise/sweep/search_leaderboard.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace modewise::sweep {
namespace {

using Json = nlohmann::ordered_json;

/// Rank, lower is better; results over all splits come first.
std::pair<bool, double> rank(const TrialResult& result, const SweepMetric& metric) {
  if (!result.failure.empty()) return {true, std::numeric_limits<double>::infinity()};
  return {!result.on_splits, metric.best == "highest" ? -result.value : result.value};
}

}  // namespace

const TrialResult* SearchOutcome::best() const {
  return trial_results.empty() || !trial_results.front().failure.empty() ? nullptr : &trial_results.front();
}

void add_results(std::vector<TrialResult> now, const SweepMetric& metric, SearchOutcome& to) {
  to.trial_results.insert(to.trial_results.begin(), now.begin(), now.end());
  std::stable_sort(
      to.trial_results.begin(), to.trial_results.end(),
      [&](const TrialResult& a, const TrialResult& b) { return rank(a, metric) < rank(b, metric); });
}

Json leaderboard_json(const SearchOutcome& outcome, const SweepMetric& metric,
                      const std::filesystem::path& out) {
  Json rows = Json::array();
  for (const TrialResult& one : outcome.trial_results) {
    Json row = {{"name", one.name},
                {"stage", one.stage},
                {"run", one.folder.lexically_relative(out).string()},
                {"steps", one.steps},
                {"seconds", one.seconds}};
    row[metric.path] = one.failure.empty() ? Json(one.value) : Json();
    if (!one.failure.empty()) row["failure"] = one.failure;
    rows.push_back(std::move(row));
  }
  return rows;
}

report::Table leaderboard(const SearchOutcome& outcome, const SweepMetric& metric) {
  using Best = report::Column::Best;
  report::Table table({{"model"},
                       {metric.name, metric.best == "highest" ? Best::highest : Best::lowest},
                       {"steps"},
                       {"seconds"},
                       {"round"}});
  std::vector<std::string> shown;
  for (const TrialResult& one : outcome.trial_results) {
    if (std::find(shown.begin(), shown.end(), one.name) != shown.end()) continue;
    shown.push_back(one.name);
    table.add_row({one.name, report::Cell(one.value * metric.factor, static_cast<int>(metric.decimals)),
                   report::Cell::count(one.steps), report::Cell(one.seconds, 1),
                   one.failure.empty() ? one.stage : one.stage + ": " + one.failure});
  }
  return table;
}

}  // namespace modewise::sweep
