#pragma once
// Finished runs of one task side by side: seeds of one config are one row, mean ± standard deviation. A task
// says which figures of metrics.json count and what to draw; table, JSON and page are made of that.

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

#include "modewise/core/fields.h"
#include "modewise/report/html_page.h"
#include "modewise/report/table.h"
#include "modewise/tasks/load_config.h"

namespace modewise::tasks {

struct FinishedRun {
  std::filesystem::path path;
  std::string model;                            // a name for tables: "hot sum"
  std::string task;                             // what may be compared: data and its sizes
  std::map<std::string, std::string> settings;  // that make another experiment
  int64_t seed = 0;
  nlohmann::ordered_json metrics;  // metrics.json
  std::string data_hash;
};

/// A run's path, metrics and data_hash. Errors: no_input when it is no run, has not finished, or was stopped
/// before its evaluation; `task` is the word behind `train` in the advice.
FinishedRun finished_run(const std::filesystem::path& path, const std::string& task);

/// The settings of `fields` but those that `is_incidental` (paths) and those that change no number.
std::map<std::string, std::string> settings_of(const Fields& fields,
                                               const std::vector<std::string>& is_incidental);

/// Runs that differ in nothing but the seed.
struct RunGroup {
  std::string name;  // the model, with the settings in which groups of one model differ
  std::string task;  // only rows of one task may be compared
  std::vector<FinishedRun> runs;

  /// A number of each run's metrics.json by its JSON pointer, such as "/test/scaled/mse"; runs without it
  /// left out.
  std::vector<double> values(const std::string& pointer) const;
};

/// Grouped, in order of first appearance; groups of one task stand together.
std::vector<RunGroup> group_runs(std::vector<FinishedRun> runs);

double mean(const std::vector<double>& values);
/// Of a sample (n − 1); nothing for fewer than two values.
std::optional<double> standard_deviation(const std::vector<double>& values);

/// Where a figure stands in metrics.json: a JSON pointer, or a rule that finds it for a group ("" for none).
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
  /// A column of the table: mean ± deviation over the seeds, times `factor`.
  struct Figure {
    Figure(report::Column title, FigurePlace found, int digits, double times = 1)
        : column(std::move(title)), place(std::move(found)), decimals(digits), factor(times) {}

    report::Column column;
    FigurePlace place;
    int decimals;
    double factor;
    bool where_any = false;  // left out of a table in which no run has it
  };

  FinishedRun (*read)(const std::filesystem::path&);      // no_input when it is no run or has not finished
  std::vector<Figure> columns;                            // after the task, the model and the number of seeds
  std::vector<std::pair<std::string, FigurePlace>> json;  // name and figure of each entry of a group
  std::string title, section;                             // of the page, and of its table
  /// Draws the groups of one task below their heading.
  void (*draw)(report::HtmlPage&, std::span<const RunGroup>);
};

std::vector<FinishedRun> read_finished_runs(const Comparison& comparison,
                                            const std::vector<std::string>& paths);
report::Table comparison_table(const Comparison& comparison, const std::vector<RunGroup>& groups);
nlohmann::ordered_json comparison_json(const Comparison& comparison, const std::vector<RunGroup>& groups);
/// An HTML page: the table, then each task's figures.
void write_comparison(const Comparison& comparison, const std::vector<FinishedRun>& runs,
                      const std::filesystem::path& out);

/// A figure of each group as a bar, × `factor`, with its deviation over the seeds.
report::BarChart group_bars(const std::string& title, std::span<const RunGroup> groups,
                            const std::string& pointer, double factor = 1);

/// Reads a finished run of the task called `task` (the word behind `train`), whose config is a Config;
/// `incidental`: settings that make no other experiment. `title`: what may be compared.
template <class Config>
FinishedRun read_finished(const std::filesystem::path& path, const std::string& task,
                          const std::vector<std::string>& incidental, std::string (*title)(const Config&)) {
  FinishedRun run = finished_run(path, task);
  Config config = read_run_config<Config>(train::RunFolder::open(path));
  run.model = model_title(config);
  run.task = title(config);
  run.settings = settings_of(fields_of(config), incidental);
  run.seed = config.train.seed;
  return run;
}

}  // namespace modewise::tasks
