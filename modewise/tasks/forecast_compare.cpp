#include "modewise/tasks/forecast_compare.h"

#include <fmt/format.h>

#include <cmath>

#include "modewise/tasks/forecast_data.h"
#include "modewise/tasks/forecast_run.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using report::Cell;

std::string task_name(const ForecastConfig& config) {
  const std::string source =
      config.data.simulate.empty() ? fs::path(config.data.path).stem().string() : config.data.simulate;
  return fmt::format("{}, lookback {}, horizon {}", source, config.forecast.lookback,
                     config.forecast.longest());
}

/// The pointer of the coverage of the interval nearest to `nominal`, "" when there is none.
std::string coverage_pointer(const RunGroup& group, double nominal) {
  const auto& metrics = group.runs.front().metrics;
  const nlohmann::ordered_json::json_pointer intervals("/test/quantiles/intervals");
  if (!metrics.contains(intervals)) return "";
  const auto& list = metrics[intervals];
  for (size_t i = 0; i < list.size(); ++i)
    if (std::abs(list[i].value("nominal", 0.0) - nominal) < 1e-6)
      return fmt::format("/test/quantiles/intervals/{}/coverage", i);
  return "";
}

Cell coverage(const RunGroup& group, double nominal) {
  const std::string pointer = coverage_pointer(group, nominal);
  return pointer.empty() ? Cell(std::nan("")) : statistic(group, pointer, 3);
}

}  // namespace

FinishedRun read_finished_run(const fs::path& path) {
  FinishedRun run;
  run.path = path;
  run.metrics = read_finished_metrics(path, "forecast");
  const train::RunFolder folder = train::RunFolder::open(path);
  ForecastConfig config = read_run_config(folder);
  run.model = model_title(config);
  run.task = task_name(config);
  run.settings = settings_of(fields_of(config), {"forecast.evaluation_batch"});
  run.seed = config.train.seed;
  run.data_hash = read_data_summary(folder.file("data.json")).hash;
  return run;
}

report::Table comparison_table(const std::vector<RunGroup>& groups) {
  using Best = report::Column::Best;
  report::Table table({{"task"},
                       {"model"},
                       {"seeds"},
                       {"MSE", Best::lowest},
                       {"MAE", Best::lowest},
                       {"validation MSE"},
                       {"CRPS", Best::lowest},
                       {"80 % holds"},
                       {"95 % holds"}});
  table.best_by_group = true;
  for (size_t i = 0; i < groups.size(); ++i) {
    const RunGroup& group = groups[i];
    const bool new_task = begins_task(groups, i);
    if (new_task && i > 0) table.add_rule();
    table.add_row({new_task ? group.task : "", group.name, std::ssize(group.runs),
                   statistic(group, "/test/scaled/mse", 4), statistic(group, "/test/scaled/mae", 4),
                   statistic(group, "/best/val_mse", 4), statistic(group, "/test/quantiles/crps", 4),
                   coverage(group, 0.8), coverage(group, 0.95)});
  }
  return table;
}

nlohmann::ordered_json comparison_json(const std::vector<RunGroup>& groups) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const RunGroup& group : groups)
    rows.push_back(group_json(group, {{"mse", "/test/scaled/mse"},
                                      {"mae", "/test/scaled/mae"},
                                      {"validation_mse", "/best/val_mse"},
                                      {"validation_mae", "/best/val_mae"},
                                      {"crps", "/test/quantiles/crps"},
                                      {"coverage_80", coverage_pointer(group, 0.8)},
                                      {"coverage_95", coverage_pointer(group, 0.95)}}));
  return {{"groups", rows}};
}

}  // namespace modewise::tasks
