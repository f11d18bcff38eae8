#pragma once
// Result table of a sweep: one row per cell of the grid, mean ± standard deviation over its seeds.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "modewise/report/table.h"
#include "modewise/sweep/sweep_plan.h"
#include "modewise/sweep/sweep_runner.h"

namespace modewise::sweep {

/// One cell of the grid.
struct SweepRow {
  std::vector<std::string> labels;
  std::vector<size_t> runs;                 // indices into the plan's runs, one per seed
  size_t finished = 0;                      // number of finished runs
  std::string evaluated;                    // horizon and windows of their validation, if they have any
  std::vector<std::vector<double>> values;  // per metric: values of the finished runs that have it
};

/// Reads metrics.json of the finished runs. Data error if one is damaged.
std::vector<SweepRow> sweep_rows(const SweepPlan& plan, const SweepOutcome& outcome);

/// Config error for a metric that no finished run has; it names those that exist.
void require_metrics(const SweepPlan& plan, const SweepOutcome& outcome, const std::vector<SweepRow>& rows);

/// Columns: axes, finished seeds, metrics; the best value of each metric is marked, among the rows with the
/// same horizon and validation windows.
report::Table sweep_table(const SweepPlan& plan, const std::vector<SweepRow>& rows);
nlohmann::ordered_json sweep_json(const SweepPlan& plan, const SweepOutcome& outcome,
                                  const std::vector<SweepRow>& rows);

/// Writes table.md, table.csv, sweep.json and report.html (the table and one bar chart per metric) to
/// `folder`.
void write_sweep_results(const SweepPlan& plan, const SweepOutcome& outcome,
                         const std::vector<SweepRow>& rows, const std::filesystem::path& folder);

}  // namespace modewise::sweep
