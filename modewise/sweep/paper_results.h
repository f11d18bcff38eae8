#pragma once
// Results of a paper's table: the cells of finished runs beside the printed ones, as Markdown and JSON.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "modewise/sweep/paper_table.h"
#include "modewise/sweep/sweep_runner.h"

namespace modewise::sweep {

struct ResultCell {
  std::string printed;         // by the paper; "" if it has none
  std::vector<double> values;  // of the finished runs, times the factor, by seed; empty: not run
  std::vector<int64_t> seeds;
  size_t undefined = 0;  // finished runs without a value
  int64_t decimals = 3;
  bool median = false;           // of the values, instead of their mean
  std::vector<std::string> cut;  // settings of its runs that are not the table's; empty: the table's own runs
  std::vector<size_t> slips;     // of the table, by index
};

struct ResultRow {
  std::string name;
  std::vector<ResultCell> cells;  // one per column
};

struct PaperResults {
  std::vector<std::string> columns;
  std::vector<ResultRow> rows;                   // the printed rows in the paper's order, then further ones
  std::vector<std::string> commits, processors;  // of the runs in the cells
  std::string first_run, last_run;               // when the first and the last of them were started
  std::set<std::string> left_out;  // settings of cut runs in no cell: others of the cell have other settings
  std::set<std::string> absent;    // paths of metrics that no finished run has
};

/// Folder of the runs of a sweep's folder that were cut: trained with --set.
std::filesystem::path cut_folder(const std::filesystem::path& out);

/// Reads the runs of `plan` that have finished in `out`, or else in its folder of cut runs. Data errors for
/// damaged files.
PaperResults read_results(const PaperTable& table, const SweepPlan& plan, const SweepOutcome& outcome,
                          const std::filesystem::path& out);

/// The table in Markdown, with notes, slips, missing files and where and when it was made.
std::string results_markdown(const PaperTable& table, const TablePlan& planned, const SweepOutcome& outcome,
                             const PaperResults& results);
nlohmann::ordered_json results_json(const PaperTable& table, const TablePlan& planned,
                                    const SweepOutcome& outcome, const PaperResults& results);

}  // namespace modewise::sweep
