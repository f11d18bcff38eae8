#pragma once
// Finished runs of one task side by side: a task says which figures of metrics.json count and what to draw;
// table, JSON and page are made of that.

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "modewise/report/html_page.h"
#include "modewise/report/table.h"
#include "modewise/tasks/load_config.h"
#include "modewise/tasks/run_groups.h"

namespace modewise::tasks {

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

/// What stands in data.json as "hash".
std::string hash_of_data(const train::RunFolder& folder);

/// Reads a finished run of the task called `task` (the word behind `train`), whose config is a Config;
/// `incidental`: settings that make no other experiment. `title`: what may be compared.
template <class Config>
FinishedRun read_finished(const std::filesystem::path& path, const std::string& task,
                          const std::vector<std::string>& incidental, std::string (*title)(const Config&)) {
  FinishedRun run;
  run.path = path;
  run.metrics = read_finished_metrics(path, task);
  const train::RunFolder folder = train::RunFolder::open(path);
  Config config = read_run_config<Config>(folder);
  run.model = model_title(config);
  run.task = title(config);
  run.settings = settings_of(fields_of(config), incidental);
  run.seed = config.train.seed;
  run.data_hash = hash_of_data(folder);
  return run;
}

}  // namespace modewise::tasks
