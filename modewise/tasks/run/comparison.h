#pragma once
// Comparison of finished runs of one task: the distinct seeds of one config are one row, mean ± standard
// deviation; the best is marked among rows with the same test data. A task
// defines the metrics and figures; table, JSON and page follow from them.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "modewise/report/html_page.h"
#include "modewise/report/table.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

class Run;
struct TaskSpec;

struct FinishedRun {
  std::filesystem::path path;
  std::string model;                            // name for tables: "hot sum"
  std::string task;                             // comparable runs have the same: data and sizes
  std::map<std::string, std::string> settings;  // settings that distinguish experiments
  int64_t seed = 0;
  nlohmann::ordered_json metrics;  // metrics.json
  std::string data_hash;
  std::string trained_hash;  // that of the training, which --no-test leaves the test split out of
  std::string tested;        // size of the test split: "69 windows"; "" if it is unread
};

/// Runs that differ only in the seed.
struct RunGroup {
  std::string name;  // model, with the settings that distinguish groups of one model
  std::string task;  // only groups of one task are comparable
  std::vector<FinishedRun> runs;

  /// Values of the runs' metrics.json at a JSON pointer, such as "/test/scaled/mse"; runs without it are
  /// skipped.
  std::vector<double> values(const std::string& pointer) const;
};

/// Groups runs in order of first appearance; groups of one task are adjacent. A seed counts once: a further
/// run with the same settings, data and seed is left out, with a warning. A run whose test split is unread
/// has the data of an evaluated one that was trained on the same rows.
std::vector<RunGroup> group_runs(std::vector<FinishedRun> runs);

/// "GROUP", or "GROUP (seed 1)" if a figure shows the first of several runs only.
std::string first_run_name(const RunGroup& group);

using MetricLines = std::vector<nlohmann::ordered_json>;
/// The lines of a group's curves, and their name.
struct NamedLines {
  std::string name;
  MetricLines lines;
};
/// The mean of each number over the runs whose lines have the same "step"; else the lines of the first run,
/// which the name says.
NamedLines mean_lines(const RunGroup& group, const std::function<MetricLines(const FinishedRun&)>& lines_of);
/// mean_lines of metrics.jsonl.
NamedLines learning_lines(const RunGroup& group);

double mean(const std::vector<double>& values);
/// Sample standard deviation (ddof 1); nothing for fewer than two values.
std::optional<double> standard_deviation(const std::vector<double>& values);

/// Location of a metric in metrics.json: a JSON pointer, or a function that returns it for a group ("":
/// none).
class FigurePlace {
 public:
  FigurePlace(const char* pointer)  // NOLINT: a list of figures reads best without casts
      : rule_([text = std::string(pointer)](const RunGroup&) { return text; }) {}
  explicit FigurePlace(std::function<std::string(const RunGroup&)> rule) : rule_(std::move(rule)) {}
  std::string in(const RunGroup& group) const { return rule_(group); }

 private:
  std::function<std::string(const RunGroup&)> rule_;
};

struct Comparison {
  /// A column of the table: mean ± standard deviation over seeds, times `factor`.
  struct Figure {
    Figure(report::Column title, FigurePlace found, int digits, double times = 1)
        : column(std::move(title)), place(std::move(found)), decimals(digits), factor(times) {}

    report::Column column;
    FigurePlace place;
    int decimals;
    double factor;
    bool where_any = false;                            // omitted from tables in which no run has it
    std::string (*levels)(const RunGroup&) = nullptr;  // only values with the same ones are comparable
  };

  std::vector<Figure> columns;                            // after task, model and number of seeds
  std::vector<std::pair<std::string, FigurePlace>> json;  // name and location of each entry of a group
  std::string title, section;                             // titles of the page and of its table
  /// Draws figures of the groups of one task.
  void (*draw)(report::HtmlPage&, std::span<const RunGroup>);
  std::vector<std::string> incidental = {};     // settings that do not distinguish experiments
  std::string (*compared)(Run& run) = nullptr;  // comparable runs have the same; null: the title of the data
};

/// Model, settings, data and seed of a run of `task`, without metrics.
FinishedRun read_run_identity(const TaskSpec& task, const train::RunFolder& folder);
/// A finished run of `task`. Errors: no_input if it is not a run, has not finished, or was interrupted before
/// its evaluation.
FinishedRun read_finished_run(const TaskSpec& task, const std::filesystem::path& path);
std::vector<FinishedRun> read_finished_runs(const TaskSpec& task, const std::vector<std::string>& paths);
/// `repeat_task`: the task is in each row, as in CSV; else in the first row of each task.
report::Table comparison_table(const Comparison& comparison, const std::vector<RunGroup>& groups,
                               bool repeat_task = false);
nlohmann::ordered_json comparison_json(const Comparison& comparison, const std::vector<RunGroup>& groups);
/// Writes an HTML page: the table, then each task's figures.
void write_comparison(const Comparison& comparison, const std::vector<FinishedRun>& runs,
                      const std::filesystem::path& out);

/// Bar chart of a metric, × `factor`, one bar per group with its standard deviation over seeds.
report::BarChart group_bars(const std::string& title, std::span<const RunGroup> groups,
                            const std::string& pointer, double factor = 1);

}  // namespace modewise::tasks
