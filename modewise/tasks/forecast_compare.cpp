#include "modewise/tasks/forecast_compare.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "modewise/core/error.h"
#include "modewise/tasks/forecast_data.h"
#include "modewise/tasks/forecast_run.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using report::Cell;

/// Settings that make no other experiment.
bool is_incidental(const std::string& path) {
  return path == "train.seed" || path == "data.path" || path.starts_with("output.") ||
         path == "train.prefetch" || path == "forecast.evaluation_batch" ||
         !train::changes_numbers(path.substr(path.find('.') + 1));
}

std::map<std::string, std::string> settings(ForecastConfig config) {
  std::map<std::string, std::string> result;
  const Fields fields = fields_of(config);
  for (const Field& field : fields.list())
    if (!is_incidental(field.path)) result[field.path] = Fields::value_text(field);
  return result;
}

std::string task_name(const FinishedRun& run) {
  const data::DataConfig& data = run.config.data;
  const std::string source = data.simulate.empty() ? fs::path(data.path).stem().string() : data.simulate;
  return fmt::format("{}, lookback {}, horizon {}", source, run.config.forecast.lookback,
                     run.config.forecast.longest());
}

/// Appends to the names of groups of one model and task the settings in which they differ.
void tell_apart(std::vector<RunGroup>& groups) {
  std::map<std::string, std::vector<RunGroup*>> same;
  for (RunGroup& group : groups) same[group.task + "\n" + group.name].push_back(&group);
  for (auto& [key, members] : same) {
    if (members.size() < 2) continue;
    std::vector<std::map<std::string, std::string>> all;
    for (const RunGroup* group : members) all.push_back(settings(group->runs.front().config));
    for (const auto& [path, value] : all.front()) {
      const bool differs =
          std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.at(path) != value; });
      if (!differs) continue;
      for (size_t i = 0; i < members.size(); ++i)
        members[i]->name += fmt::format(" {}={}", path, all[i].at(path));
    }
  }
}

Cell statistic(const RunGroup& group, const std::string& pointer, int decimals) {
  const std::vector<double> values = group.values(pointer);
  if (values.empty()) return Cell(std::nan(""), decimals);
  return Cell::mean_sd(mean(values), standard_deviation(values), decimals);
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

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? std::nan("") : sum / static_cast<double>(values.size());
}

std::optional<double> standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

FinishedRun read_finished_run(const fs::path& path) {
  const train::RunFolder folder = train::RunFolder::open(path);
  require(fs::exists(folder.file("metrics.json")), ErrorKind::no_input,
          "{} has not finished (no metrics.json): continue it with modewise train forecast --resume {}",
          path.string(), path.string());
  FinishedRun run{path, read_run_config(folder), folder.read_metrics(), {}};
  require(run.metrics.contains("test"), ErrorKind::no_input,
          "{} was stopped before its evaluation: continue it with modewise train forecast --resume {}",
          path.string(), path.string());
  run.data_hash = read_data_summary(folder.file("data.json")).hash;
  return run;
}

std::vector<double> RunGroup::values(const std::string& pointer) const {
  std::vector<double> result;
  const nlohmann::ordered_json::json_pointer at(pointer);
  for (const FinishedRun& run : runs)
    if (run.metrics.contains(at) && run.metrics[at].is_number())
      result.push_back(run.metrics[at].get<double>());
  return result;
}

std::vector<RunGroup> group_runs(std::vector<FinishedRun> runs) {
  struct Keyed {
    std::string task_key, key;
    RunGroup group;
  };
  std::vector<Keyed> keyed;
  for (FinishedRun& run : runs) {
    const std::string task_key = run.data_hash + "\n" + task_name(run);
    const std::string key = task_key + fmt::format("\n{}", fmt::join(settings(run.config), "\n"));
    auto found = std::find_if(keyed.begin(), keyed.end(), [&](const Keyed& k) { return k.key == key; });
    if (found == keyed.end()) {
      keyed.push_back({task_key, key, {model_title(run.config), task_name(run), {}}});
      found = std::prev(keyed.end());
    }
    found->group.runs.push_back(std::move(run));
  }
  std::vector<RunGroup> groups;
  std::set<std::string> taken;
  for (const Keyed& first : keyed) {
    if (!taken.insert(first.task_key).second) continue;
    for (Keyed& other : keyed)
      if (other.task_key == first.task_key) groups.push_back(other.group);
  }
  tell_apart(groups);
  return groups;
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
    const bool new_task = i == 0 || groups[i - 1].task != group.task ||
                          groups[i - 1].runs.front().data_hash != group.runs.front().data_hash;
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
  for (const RunGroup& group : groups) {
    nlohmann::ordered_json row = {
        {"task", group.task}, {"model", group.name}, {"runs", nlohmann::ordered_json::array()}};
    for (const FinishedRun& run : group.runs)
      row["runs"].push_back({{"path", run.path.string()}, {"seed", run.config.train.seed}});
    const auto add = [&](const char* name, const std::string& pointer) {
      const std::vector<double> values = pointer.empty() ? std::vector<double>{} : group.values(pointer);
      if (values.empty()) return;
      const auto deviation = standard_deviation(values);
      row[name] = {
          {"mean", mean(values)},
          {"deviation", deviation ? nlohmann::ordered_json(*deviation) : nlohmann::ordered_json(nullptr)},
          {"values", values}};
    };
    add("mse", "/test/scaled/mse");
    add("mae", "/test/scaled/mae");
    add("validation_mse", "/best/val_mse");
    add("validation_mae", "/best/val_mae");
    add("crps", "/test/quantiles/crps");
    add("coverage_80", coverage_pointer(group, 0.8));
    add("coverage_95", coverage_pointer(group, 0.95));
    rows.push_back(std::move(row));
  }
  return {{"groups", rows}};
}

}  // namespace modewise::tasks
