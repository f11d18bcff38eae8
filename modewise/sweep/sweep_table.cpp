#include "modewise/sweep/sweep_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/nearest_name.h"
#include "modewise/report/html_page.h"
#include "modewise/sweep/json_file.h"
#include "modewise/sweep/seed_statistics.h"

namespace modewise::sweep {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

const char* state_name(RunState state) {
  switch (state) {
    case RunState::finished:
      return "finished";
    case RunState::failed:
      return "failed";
    case RunState::stopped:
      return "stopped";
    case RunState::waiting:
      break;
  }
  return "waiting";
}

std::string label(const SweepRow& row) {
  return row.labels.empty() ? "all" : fmt::format("{}", fmt::join(row.labels, ", "));
}

/// metrics.json of a run, with timing.json as /timing.
Json run_metrics(const fs::path& folder) {
  const fs::path file = folder / "metrics.json", timing = folder / "timing.json";
  Json metrics = read_json(file);
  require(metrics.is_object(), ErrorKind::data, "{} is not a JSON object", file.string());
  if (fs::exists(timing)) metrics["timing"] = read_json(timing);
  return metrics;
}

/// Data, horizon and samples of a run's validation: figures of other ones are not comparable.
std::string evaluated_on(const fs::path& folder, const Json& metrics) {
  std::string text =
      fs::exists(folder / "data.json") ? read_json(folder / "data.json").value("hash", "") : "";
  for (const char* key : {"horizon", "windows", "samples", "tokens", "pixels", "series"})
    if (const Json::json_pointer at(std::string("/validation/") + key); metrics.contains(at))
      text += " " + metrics[at].dump();
  return text;
}

/// "best.val_mse", the names of all numbers in `json` outside of lists, as --metric takes them.
void add_names(const Json& json, const std::string& prefix, std::vector<std::string>& names) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_number()) names.push_back(prefix + key);
    if (value.is_object()) add_names(value, prefix + key + ".", names);
  }
}

}  // namespace

void drop_absent_metrics(SweepPlan& plan, std::vector<SweepRow>& rows) {
  const auto absent = [&](size_t m) {
    return std::ranges::all_of(rows, [&](const SweepRow& row) { return row.values[m].empty(); });
  };
  for (size_t m = plan.metrics.size(); plan.default_metrics && m-- > 0;) {
    if (plan.metrics.size() == 1 || !absent(m)) continue;
    const auto at = static_cast<std::ptrdiff_t>(m);
    plan.metrics.erase(plan.metrics.begin() + at);
    for (SweepRow& row : rows) row.values.erase(row.values.begin() + at);
  }
}

void require_metrics(const SweepPlan& plan, const SweepOutcome& outcome, const std::vector<SweepRow>& rows) {
  const auto finished = std::ranges::find(outcome.runs, RunState::finished, &RunOutcome::state);
  if (finished == outcome.runs.end()) return;
  for (size_t m = 0; m < plan.metrics.size(); ++m) {
    if (std::ranges::any_of(rows, [&](const SweepRow& row) { return !row.values[m].empty(); })) continue;
    std::vector<std::string> names;
    add_names(run_metrics(finished->folder), "", names);
    std::string name = plan.metrics[m].path.substr(1);
    std::ranges::replace(name, '/', '.');
    fail(ErrorKind::config, "no run has the metric {}{}; the runs have {}", name,
         nearest_name_hint(name, names), listed_names(names));
  }
}

std::vector<SweepRow> sweep_rows(const SweepPlan& plan, const SweepOutcome& outcome) {
  std::vector<SweepRow> rows;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    if (rows.empty() || rows.back().labels != plan.runs[i].labels)
      rows.push_back({plan.runs[i].labels, {}, 0, "", std::vector<std::vector<double>>(plan.metrics.size())});
    SweepRow& row = rows.back();
    row.runs.push_back(i);
    if (outcome.runs[i].state != RunState::finished) continue;
    ++row.finished;
    const Json metrics = run_metrics(outcome.runs[i].folder);
    row.evaluated = evaluated_on(outcome.runs[i].folder, metrics);
    for (size_t m = 0; m < plan.metrics.size(); ++m) {
      const Json::json_pointer pointer(plan.metrics[m].path);
      if (metrics.contains(pointer) && metrics[pointer].is_number())
        row.values[m].push_back(metrics[pointer].get<double>());
    }
  }
  return rows;
}

report::Table sweep_table(const SweepPlan& plan, const std::vector<SweepRow>& rows) {
  using Best = report::Column::Best;
  std::vector<report::Column> columns;
  for (const std::string& axis : plan.axes) columns.push_back({axis});
  columns.push_back({"seeds"});
  for (const SweepMetric& metric : plan.metrics)
    columns.push_back({metric.name, metric.best == "lowest"    ? Best::lowest
                                    : metric.best == "highest" ? Best::highest
                                                               : Best::none});
  report::Table table(columns);
  for (const SweepRow& row : rows) {
    std::vector<Cell> cells(row.labels.begin(), row.labels.end());
    cells.emplace_back(row.finished == row.runs.size()
                           ? fmt::format("{}", row.finished)
                           : fmt::format("{} of {}", row.finished, row.runs.size()));
    for (size_t m = 0; m < plan.metrics.size(); ++m) {
      std::vector<double> values = row.values[m];
      for (double& v : values) v *= plan.metrics[m].factor;
      const int decimals = static_cast<int>(plan.metrics[m].decimals);
      if (values.empty()) {
        cells.emplace_back(std::nan(""), decimals);
        continue;
      }
      Cell cell = Cell::mean_sd(mean_of(values), stddev_of(values), decimals);
      if (values.size() < row.finished)
        cells.emplace_back(fmt::format("{} ({} of {})", cell.text(), values.size(), row.finished));
      else
        cells.push_back(std::move(cell).within(row.evaluated));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

Json sweep_json(const SweepPlan& plan, const SweepOutcome& outcome, const std::vector<SweepRow>& rows) {
  Json runs = Json::array(), cells = Json::array();
  for (size_t i = 0; i < plan.runs.size(); ++i)
    runs.push_back({{"name", plan.runs[i].name},
                    {"seed", plan.runs[i].seed},
                    {"settings", plan.runs[i].settings},
                    {"state", state_name(outcome.runs[i].state)},
                    {"exit_code", outcome.runs[i].exit_code},
                    {"seconds", outcome.runs[i].seconds},
                    {"folder", outcome.runs[i].folder.string()}});
  for (const SweepRow& row : rows) {
    Json choice = Json::object(), metrics = Json::object();
    for (size_t i = 0; i < plan.axes.size(); ++i) choice[plan.axes[i]] = row.labels[i];
    for (size_t m = 0; m < plan.metrics.size(); ++m) {
      const auto stddev = stddev_of(row.values[m]);
      metrics[plan.metrics[m].path] = {
          {"mean", row.values[m].empty() ? Json(nullptr) : Json(mean_of(row.values[m]))},
          {"std", stddev ? Json(*stddev) : Json(nullptr)},
          {"deviation", stddev ? Json(*stddev) : Json(nullptr)},  // old name of std
          {"values", row.values[m]}};
    }
    cells.push_back(
        {{"choice", choice}, {"finished", row.finished}, {"seeds", row.runs.size()}, {"metrics", metrics}});
  }
  return {{"sweep", plan.name}, {"task", plan.task}, {"rows", cells}, {"runs", runs}};
}

void write_sweep_results(const SweepPlan& plan, const SweepOutcome& outcome,
                         const std::vector<SweepRow>& rows, const std::filesystem::path& folder) {
  const report::Table table = sweep_table(plan, rows);
  write_file_atomically(folder / "table.md", table.to_markdown());
  write_file_atomically(folder / "table.csv", table.to_csv());
  const auto lenient = Json::error_handler_t::replace;
  write_file_atomically(folder / "sweep.json",
                        sweep_json(plan, outcome, rows).dump(1, ' ', false, lenient) + "\n");
  report::HtmlPage page(plan.name, "Sweep");
  page.add_fact("task", plan.task);
  if (!plan.data.empty()) page.add_fact("data", plan.data);
  if (!plan.config.empty()) page.add_fact("config", plan.config);
  page.add_section("Results");
  page.add_table(
      table,
      "Mean ± standard deviation over seeds; the best of each metric is marked, among rows with the "
      "same validation data. (2 of 3): the metric is undefined for the other seeds.");
  std::vector<report::CaptionedFigure> figures;
  for (size_t m = 0; m < plan.metrics.size(); ++m) {
    report::BarChart chart;
    chart.title = plan.metrics[m].name;
    report::BarSeries bars;
    bars.label = plan.metrics[m].name;
    for (const SweepRow& row : rows) {
      chart.categories.push_back(label(row));
      bars.values.push_back(row.values[m].empty() ? std::nan("")
                                                  : plan.metrics[m].factor * mean_of(row.values[m]));
      bars.errors.push_back(plan.metrics[m].factor * stddev_of(row.values[m]).value_or(0));
    }
    chart.series.push_back(std::move(bars));
    figures.push_back({chart, ""});
  }
  page.add_figure_grid(figures);
  page.add_section("Runs");
  report::Table runs({{"run"}, {"state"}, {"seconds"}});
  for (size_t i = 0; i < plan.runs.size(); ++i)
    runs.add_row({plan.runs[i].name, state_name(outcome.runs[i].state), Cell(outcome.runs[i].seconds, 0)});
  page.add_table(runs);
  page.write(folder / "report.html");
}

}  // namespace modewise::sweep
