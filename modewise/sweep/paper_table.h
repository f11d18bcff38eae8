#pragma once
// Tables and figures of papers: TOML files PAPER/TABLE.toml. Each is the sweep that trains the rows of a
// table (sweep_plan.h), together with the cells that the paper prints:
//
//   title = "…"
//   why = "…"                            # why it, or the rest of it, cannot be reproduced; optional
//   note = "…"                           # what differs from the paper; optional
//   printed = """                        # the table of the paper; its columns are "CHOICE METRIC"
//   model         | ECL MSE | ECL MAE
//   HOT (product) | 0.169   | 0.268
//   """
//   task, config, seeds, [settings], [[axis]]   # as in a sweep; without a task nothing is trained
//   runs_of = "table1"                   # instead of these: the runs of another table of the paper
//   only_printed = true                  # runs whose rows are not printed are left out
//   [files]                              # official file names for every run: setting = "name" or ["name", …]
//   [[axis]]
//   across = true                        # its choices are columns; those of other axes are rows
//   choices = [{ name = "ECL", files = { data.path = "electricity.csv" } }]
//   [[metric]]
//   name = "MSE"                         # part of the column's name; may be ""
//   row = "96"                           # part of the row's name; optional
//   path = "/test/scaled/mse"            # in metrics.json, or a list of paths whose mean it is
//   choices = ["CoLA"]                   # only of runs with one of these choices; optional
//   median = true                        # over the seeds, instead of mean ± standard deviation; optional
//   [[absent]]
//   rows = ["MDANet"]                    # printed rows that no run makes
//   why = "…"
//   [[slip]]
//   row = "…"                            # a printed cell that cannot be right; "" for every row or column
//   column = "…"
//   note = "…"
//
// Nothing is chosen among the runs of such a table, so they evaluate the test split, unlike those of a sweep.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "modewise/sweep/sweep_plan.h"

namespace modewise::sweep {

struct TableMetric {
  std::string name, row;
  std::vector<std::string> paths;  // JSON pointers; the metric is the mean of their values
  int64_t decimals = 3;
  double factor = 1;
  std::vector<std::string> choices;  // of its runs; empty: all
  bool median = false;               // over the seeds, instead of the mean
};

/// Official names of a file or folder of data; any of them will do.
struct OfficialFile {
  std::string setting;  // that gets its path
  std::vector<std::string> names;
  std::string choice;  // that needs it; "": every run

  std::string text() const;  // "A or B"
};
/// The texts of these files, each once.
std::vector<std::string> texts_of(const std::vector<OfficialFile>& files);

struct PrintedRow {
  std::string name;
  std::vector<std::string> cells;  // as printed, one per column; "" if the paper has none
};

struct AbsentRows {
  std::vector<std::string> rows;
  std::string why;
};

struct Slip {
  std::string row, column, note;  // row or column "": all of them
};

struct PaperTable {
  std::string paper, id;                  // names of the folder and the file
  std::filesystem::path file, runs_file;  // the table's, and that of its runs: the same without runs_of
  std::string title, why, note;
  std::string task;  // "": nothing is trained
  bool only_printed = false;
  std::vector<OfficialFile> files;
  std::vector<std::string> across;  // axes whose choices are columns
  std::vector<TableMetric> metrics;
  std::vector<std::string> columns;  // of the printed cells
  std::vector<PrintedRow> printed;
  std::vector<AbsentRows> absent;
  std::vector<Slip> slips;
};

/// The table of a file. Config errors with file and line.
PaperTable read_paper_table(const std::filesystem::path& file);

/// Title of a paper: `title` in PAPER/paper.toml.
std::string paper_title(const std::filesystem::path& folder, const std::string& paper);

/// All tables below `folder`, by paper and number. no_input if the folder does not exist.
std::vector<PaperTable> all_paper_tables(const std::filesystem::path& folder);

/// The table `id` of `paper`; no_input errors name what there is, with the nearest name.
PaperTable find_paper_table(const std::filesystem::path& folder, const std::string& paper,
                            const std::string& id);

/// Name of the runs: PAPER-TABLE of the table that defines them.
std::string runs_name(const PaperTable& table);

/// Row and column of a metric of a run.
struct TablePlace {
  std::string row, column;
};
TablePlace place_of(const PaperTable& table, const SweepPlan& plan, const SweepRun& run,
                    const TableMetric& metric);
/// Whether the table has a cell for the metric of the run.
bool has_cell(const PaperTable& table, const SweepPlan& plan, const SweepRun& run, const TableMetric& metric);

struct TablePlan {
  SweepPlan plan;
  std::vector<OfficialFile> missing;  // files that are not below the data folder; their choices have no runs
};

/// The runs of a table whose files are below the folder `data` (at any depth). Usage error if there are
/// several candidates for a file; no_input if no run is left; config errors as read_sweep_plan.
TablePlan plan_table(const PaperTable& table, const std::string& data, const std::vector<SweepTask>& tasks,
                     SweepOverrides overrides);

}  // namespace modewise::sweep
