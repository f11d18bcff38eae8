#include "modewise/sweep/paper_results.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "modewise/core/build_info.h"
#include "modewise/core/error.h"
#include "modewise/report/table.h"
#include "modewise/sweep/json_file.h"
#include "modewise/sweep/seed_statistics.h"
#include "modewise/sweep/sweep_table.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

template <class Range, class Name>
size_t index_of(const Range& all, const Name& name) {
  return static_cast<size_t>(std::find_if(all.begin(), all.end(), name) - all.begin());
}

size_t column_index(PaperResults& results, const std::string& name) {
  const size_t at = index_of(results.columns, [&](const std::string& one) { return one == name; });
  if (at == results.columns.size()) {
    results.columns.push_back(name);
    for (ResultRow& row : results.rows) row.cells.emplace_back();
  }
  return at;
}

ResultCell& cell_at(PaperResults& results, const std::string& row, const std::string& column) {
  const size_t across = column_index(results, column);
  const size_t at = index_of(results.rows, [&](const ResultRow& one) { return one.name == row; });
  if (at == results.rows.size())
    results.rows.push_back({row, std::vector<ResultCell>(results.columns.size())});
  return results.rows[at].cells[across];
}

/// metrics.json with timing.json below "timing".
Json metrics_of(const fs::path& run) {
  Json metrics = read_json(run / "metrics.json");
  require(metrics.is_object(), ErrorKind::data, "{} is not a JSON object", (run / "metrics.json").string());
  if (fs::exists(run / "timing.json")) metrics["timing"] = read_json(run / "timing.json");
  return metrics;
}

/// The mean of the values of a metric's paths, times its factor; nothing if one is absent.
std::optional<double> value_of(const Json& metrics, const TableMetric& metric) {
  double sum = 0;
  for (const std::string& path : metric.paths) {
    const Json::json_pointer pointer(path);
    if (!metrics.contains(pointer) || !metrics[pointer].is_number()) return std::nullopt;
    sum += metrics[pointer].get<double>();
  }
  return metric.factor * sum / static_cast<double>(metric.paths.size());
}

/// The lines of `changed` that `own` does not have.
std::vector<std::string> differences(const std::string& changed, const std::string& own) {
  std::multiset<std::string> known;
  std::istringstream lines(own);
  for (std::string line; std::getline(lines, line);) known.insert(line);
  std::vector<std::string> out;
  std::istringstream others(changed);
  for (std::string line; std::getline(others, line);)
    if (const auto at = known.find(line); at != known.end())
      known.erase(at);
    else
      out.push_back(line);
  return out;
}

/// A finished run: its folder, and the settings that are not the table's.
struct FinishedRun {
  fs::path folder;
  std::vector<std::string> cut;
};

std::optional<FinishedRun> finished_run(const SweepPlan& plan, const RunOutcome& outcome, const SweepRun& run,
                                        const fs::path& cut) {
  if (outcome.state == RunState::finished) return FinishedRun{outcome.folder, {}};
  const fs::path started = cut / "done" / (run.name + ".started.json");
  if (!fs::exists(cut / "done" / (run.name + ".json")) || !fs::exists(started)) return std::nullopt;
  const std::string settings = read_json(started).value("settings", std::string());
  return FinishedRun{cut / "runs" / run.name, differences(settings, description(plan, run))};
}

void add_origin(PaperResults& results, const fs::path& folder) {
  const fs::path file = folder / "manifest.json";
  if (!fs::exists(file)) return;
  const Json manifest = read_json(file);
  const auto add = [&](std::vector<std::string>& to, const char* pointer) {
    const std::string text = manifest.value(Json::json_pointer(pointer), std::string());
    if (!text.empty() && std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
  };
  add(results.commits, "/build/commit");
  add(results.processors, "/machine/processor");
  const std::string started = manifest.value("started", std::string());
  if (results.first_run.empty() || started < results.first_run) results.first_run = started;
  results.last_run = std::max(results.last_run, started);
}

/// A run with the table's own settings replaces cut ones in its cell.
void add_value(ResultCell& cell, double value, int64_t seed, const FinishedRun& run) {
  if (!cell.values.empty() && cell.cut.empty() && !run.cut.empty()) return;
  if (run.cut.empty() && !cell.cut.empty()) {
    cell.values.clear();
    cell.seeds.clear();
    cell.cut.clear();
  }
  cell.values.push_back(value);
  cell.seeds.push_back(seed);
  for (const std::string& one : run.cut)
    if (std::find(cell.cut.begin(), cell.cut.end(), one) == cell.cut.end()) cell.cut.push_back(one);
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double middle_of(const ResultCell& cell) {
  return cell.median ? median_of(cell.values) : mean_of(cell.values);
}

std::string here_text(const ResultCell& cell) {
  if (cell.values.empty()) return "";
  const std::string text =
      report::Cell::mean_sd(middle_of(cell), cell.median ? std::nullopt : stddev_of(cell.values),
                            static_cast<int>(cell.decimals))
          .text();
  return cell.cut.empty() ? text : text + " (cut)";
}

std::string printed_text(const ResultCell& cell) {
  std::string text = cell.printed;
  for (const size_t slip : cell.slips) text += fmt::format(" †{}", slip + 1);
  return text;
}

std::set<int64_t> seeds_of(const PaperResults& results) {
  std::set<int64_t> seeds;
  for (const ResultRow& row : results.rows)
    for (const ResultCell& cell : row.cells) seeds.insert(cell.seeds.begin(), cell.seeds.end());
  return seeds;
}

std::set<std::string> cuts_of(const PaperResults& results) {
  std::set<std::string> cuts;
  for (const ResultRow& row : results.rows)
    for (const ResultCell& cell : row.cells) cuts.insert(cell.cut.begin(), cell.cut.end());
  return cuts;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

size_t finished_in(const SweepOutcome& outcome) {
  return static_cast<size_t>(
      std::count_if(outcome.runs.begin(), outcome.runs.end(),
                    [](const RunOutcome& one) { return one.state == RunState::finished; }));
}

}  // namespace

fs::path cut_folder(const fs::path& out) {
  return out / "cut";
}

PaperResults read_results(const PaperTable& table, const SweepPlan& plan, const SweepOutcome& outcome,
                          const fs::path& out) {
  PaperResults results;
  results.columns = table.columns;
  for (const PrintedRow& row : table.printed) {
    results.rows.push_back({row.name, std::vector<ResultCell>(row.cells.size())});
    for (size_t i = 0; i < row.cells.size(); ++i) results.rows.back().cells[i].printed = row.cells[i];
  }
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const SweepRun& run = plan.runs[i];
    const auto finished = finished_run(plan, outcome.runs[i], run, cut_folder(out));
    const Json metrics = finished ? metrics_of(finished->folder) : Json();
    if (finished) add_origin(results, finished->folder);
    for (const TableMetric& metric : table.metrics) {
      if (!has_cell(table, plan, run, metric)) continue;
      const TablePlace place = place_of(table, plan, run, metric);
      ResultCell& cell = cell_at(results, place.row, place.column);
      cell.decimals = metric.decimals;
      cell.median = metric.median;
      if (!finished) continue;
      if (const auto value = value_of(metrics, metric)) add_value(cell, *value, run.seed, *finished);
    }
  }
  for (ResultRow& row : results.rows)
    for (size_t c = 0; c < row.cells.size(); ++c)
      for (size_t s = 0; s < table.slips.size(); ++s) {
        const Slip& slip = table.slips[s];
        if (!row.cells[c].printed.empty() && (slip.row.empty() || slip.row == row.name) &&
            (slip.column.empty() || slip.column == results.columns[c]))
          row.cells[c].slips.push_back(s);
      }
  return results;
}

std::string results_markdown(const PaperTable& table, const TablePlan& planned, const SweepOutcome& outcome,
                             const PaperResults& results) {
  std::vector<report::Column> columns = {{""}, {""}};
  for (const std::string& name : results.columns) columns.push_back({name});
  report::Table cells(columns);
  for (const ResultRow& row : results.rows) {
    std::vector<report::Cell> printed = {row.name, "printed"}, here = {row.name, "here"};
    bool any_printed = false, any_run = false;
    for (const ResultCell& cell : row.cells) {
      printed.emplace_back(printed_text(cell));
      here.emplace_back(here_text(cell));
      any_printed = any_printed || !cell.printed.empty();
      any_run = any_run || !cell.values.empty();
    }
    if (any_printed) cells.add_row(std::move(printed));
    if (any_run || !any_printed) cells.add_row(std::move(here));
  }
  std::string out =
      fmt::format("# {} {}: {}\n\n{}\n", table.paper, table.id, table.title, cells.to_markdown());
  const auto add = [&](const std::string& line) { out += line + "\n"; };
  add("*Printed*: by the paper. *Here*: mean ± standard deviation over the seeds. What is empty was not "
      "run.\n");
  if (!table.note.empty()) add("- " + table.note);
  for (size_t i = 0; i < table.slips.size(); ++i) add(fmt::format("- †{} {}", i + 1, table.slips[i].note));
  for (const AbsentRows& absent : table.absent)
    add(fmt::format("- Not available: {}: {}", fmt::join(absent.rows, ", "), absent.why));
  if (!table.why.empty()) add("- Not reproduced: " + table.why);
  for (const OfficialFile& file : planned.missing)
    add(fmt::format("- Missing data{}: {}", file.choice.empty() ? "" : " of " + file.choice, file.text()));
  const std::set<std::string> cuts = cuts_of(results);
  if (!cuts.empty())
    add(fmt::format("- (cut): runs with other settings than the table's: {}", fmt::join(cuts, ", ")));
  std::string made = fmt::format("- {} of {} runs with the table's own settings have finished",
                                 finished_in(outcome), outcome.runs.size());
  if (!results.commits.empty())
    made += fmt::format("; seeds {}; runs started {} to {}, commit {}, on {}",
                        fmt::join(seeds_of(results), ", "), results.first_run, results.last_run,
                        fmt::join(results.commits, ", "), fmt::join(results.processors, ", "));
  add(fmt::format("{}; table written {}", made, today()));
  return out;
}

Json results_json(const PaperTable& table, const TablePlan& planned, const SweepOutcome& outcome,
                  const PaperResults& results) {
  Json rows = Json::array(), missing = Json::array(), absent = Json::array(), slips = Json::array();
  for (const ResultRow& row : results.rows) {
    Json cells = Json::array();
    for (size_t c = 0; c < row.cells.size(); ++c) {
      const ResultCell& cell = row.cells[c];
      const auto stddev = stddev_of(cell.values);
      cells.push_back(
          {{"column", results.columns[c]},
           {"printed", cell.printed},
           {"slips", cell.slips},
           {cell.median ? "median" : "mean", cell.values.empty() ? Json(nullptr) : Json(middle_of(cell))},
           {"std", stddev ? Json(*stddev) : Json(nullptr)},
           {"values", cell.values},
           {"seeds", cell.seeds},
           {"cut", cell.cut}});
    }
    rows.push_back({{"row", row.name}, {"cells", cells}});
  }
  for (const OfficialFile& file : planned.missing)
    missing.push_back({{"choice", file.choice}, {"setting", file.setting}, {"names", file.names}});
  for (const AbsentRows& one : table.absent) absent.push_back({{"rows", one.rows}, {"why", one.why}});
  for (const Slip& slip : table.slips)
    slips.push_back({{"row", slip.row}, {"column", slip.column}, {"note", slip.note}});
  return {{"paper", table.paper},
          {"table", table.id},
          {"title", table.title},
          {"note", table.note},
          {"columns", results.columns},
          {"rows", rows},
          {"slips", slips},
          {"absent", absent},
          {"missing", missing},
          {"made",
           {{"date", today()},
            {"first_run", results.first_run},
            {"last_run", results.last_run},
            {"commits", results.commits},
            {"processors", results.processors},
            {"program", nlohmann::json(to_json(build_info()))}}},
          {"runs", sweep_json(planned.plan, outcome, {})["runs"]}};
}

}  // namespace modewise::sweep
