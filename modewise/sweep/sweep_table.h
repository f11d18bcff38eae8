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
  std::string evaluated;                    // data, horizon and samples of their validation
  std::vector<std::vector<double>> values;  // per metric: values of the finished runs that have it
};

/// Reads metrics.json of the finished runs. Data error if one is damaged.
std::vector<SweepRow> sweep_rows(const SweepPlan& plan, const SweepOutcome& outcome);

/// Removes default metrics that no finished run has, such as those of another objective.
void drop_absent_metrics(SweepPlan& plan, std::vector<SweepRow>& rows);
/// Config error for a metric that no finished run has; it names those that exist.
void require_metrics(const SweepPlan& plan, const SweepOutcome& outcome, const std::vector<SweepRow>& rows);

/// Columns: axes, finished seeds, metrics; the best value of each metric is marked, among the rows with the
/// same validation data. A mean over fewer seeds than have finished is "0.45 ± 0.01 (2 of 3)", and not
/// marked.
report::Table sweep_table(const SweepPlan& plan, const std::vector<SweepRow>& rows);
nlohmann::ordered_json sweep_json(const SweepPlan& plan, const SweepOutcome& outcome,
                                  const std::vector<SweepRow>& rows);

/// Writes table.md, table.csv, sweep.json and report.html (the table and one bar chart per metric) to
/// `folder`.
void write_sweep_results(const SweepPlan& plan, const SweepOutcome& outcome,
                         const std::vector<SweepRow>& rows, const std::filesystem::path& folder);

}  // namespace modewise::sweep
