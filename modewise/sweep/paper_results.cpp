#include "modewise/sweep/paper_results.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

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

/// The lines of `changed` that `own` does not have; the paths of data do not count.
std::vector<std::string> differences(const std::string& changed, const std::string& own) {
  const std::vector<std::string> lines = lines_without_paths(own);
  std::multiset<std::string> known(lines.begin(), lines.end());
  std::vector<std::string> out;
  for (const std::string& line : lines_without_paths(changed))
    if (const auto at = known.find(line); at != known.end())
      known.erase(at);
    else
      out.push_back(line);
  return out;
}

/// A finished run: its folder, its seed, and the settings that are not the table's.
struct FinishedRun {
  fs::path folder;
  int64_t seed = 0;
  std::vector<std::string> cut;
};

std::optional<FinishedRun> finished_run(const SweepPlan& plan, const RunOutcome& outcome, const SweepRun& run,
                                        const fs::path& cut) {
  if (outcome.state == RunState::finished) return FinishedRun{outcome.folder, run.seed, {}};
  const fs::path started = cut / "done" / (run.name + ".started.json");
  if (!fs::exists(cut / "done" / (run.name + ".json")) || !fs::exists(started)) return std::nullopt;
  const std::string settings = read_json(started).value("settings", std::string());
  return FinishedRun{cut / "runs" / run.name, run.seed, differences(settings, description(plan, run))};
}

/// The runs with the table's own settings, or else those with the changed ones that most runs have: only runs
/// with equal settings have a common mean.
std::vector<FinishedRun> comparable(std::vector<FinishedRun> runs, std::set<std::string>& left_out) {
  std::map<std::vector<std::string>, int64_t> counts;
  for (const FinishedRun& run : runs) ++counts[run.cut];
  std::vector<std::string> chosen;
  for (const FinishedRun& run : runs)
    if (!counts.contains({}) && (chosen.empty() || counts[run.cut] > counts[chosen])) chosen = run.cut;
  std::erase_if(runs, [&](const FinishedRun& run) {
    if (run.cut != chosen) left_out.insert(run.cut.begin(), run.cut.end());
    return run.cut != chosen;
  });
  return runs;
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

/// Adds the finished runs of the plan's run and its other seeds to the cells of the table; `found` gets the
/// paths of metrics that they have, undefined ones included.
void add_runs(const PaperTable& table, const SweepPlan& plan, const SweepRun& run,
              const std::vector<FinishedRun>& finished, PaperResults& results, std::set<std::string>& found) {
  std::vector<Json> figures;
  for (const FinishedRun& one : finished) {
    figures.push_back(metrics_of(one.folder));
    add_origin(results, one.folder);
  }
  for (const TableMetric& metric : table.metrics) {
    for (const std::string& path : metric.paths)
      if (std::ranges::any_of(figures,
                              [&](const Json& one) { return one.contains(Json::json_pointer(path)); }))
        found.insert(path);
    if (!has_cell(table, plan, run, metric)) continue;
    const TablePlace place = place_of(table, plan, run, metric);
    ResultCell& cell = cell_at(results, place.row, place.column);
    cell.decimals = metric.decimals;
    cell.median = metric.median;
    for (size_t i = 0; i < finished.size(); ++i) {
      const std::optional<double> value = value_of(figures[i], metric);
      cell.undefined += value ? 0 : 1;
      if (!value) continue;
      cell.values.push_back(*value);
      cell.seeds.push_back(finished[i].seed);
      cell.cut = finished[i].cut;
    }
  }
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double middle_of(const ResultCell& cell) {
  return cell.median ? median_of(cell.values) : mean_of(cell.values);
}

/// Settings of cut runs, each list once, in the order of the cells.
std::vector<std::vector<std::string>> cuts_of(const PaperResults& results) {
  std::vector<std::vector<std::string>> cuts;
  for (const ResultRow& row : results.rows)
    for (const ResultCell& cell : row.cells)
      if (!cell.cut.empty() && std::find(cuts.begin(), cuts.end(), cell.cut) == cuts.end())
        cuts.push_back(cell.cut);
  return cuts;
}

/// "(cut)", or "(cut 2)" if the runs of a table were cut in several ways.
std::string cut_mark(const std::vector<std::vector<std::string>>& cuts, const std::vector<std::string>& cut) {
  if (cuts.size() == 1) return "(cut)";
  return fmt::format("(cut {})", std::find(cuts.begin(), cuts.end(), cut) - cuts.begin() + 1);
}

std::string here_text(const ResultCell& cell, const std::vector<std::vector<std::string>>& cuts) {
  if (cell.values.empty()) return "";
  std::string text =
      report::Cell::mean_sd(middle_of(cell), cell.median ? std::nullopt : stddev_of(cell.values),
                            static_cast<int>(cell.decimals))
          .text();
  if (cell.undefined > 0)
    text += fmt::format(" ({} of {})", cell.values.size(), cell.values.size() + cell.undefined);
  return cell.cut.empty() ? text : text + " " + cut_mark(cuts, cell.cut);
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

/// The sentence that names the statistic of the cells "here".
std::string here_note(const PaperTable& table, const PaperResults& results) {
  const auto median = std::count_if(table.metrics.begin(), table.metrics.end(),
                                    [](const TableMetric& metric) { return metric.median; });
  std::string text = median == 0 ? "mean ± standard deviation over the seeds"
                     : median == std::ssize(table.metrics)
                         ? "median over the seeds"
                         : "mean ± standard deviation, or median, over the seeds";
  for (const ResultRow& row : results.rows)
    if (std::ranges::any_of(row.cells, [](const ResultCell& cell) { return cell.undefined > 0; }))
      return text + "; (2 of 3): the metric is undefined for the other seeds";
  return text;
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
  std::set<std::string> found;
  for (size_t i = 0, end = 0; i < plan.runs.size(); i = end) {
    std::vector<FinishedRun> finished;
    for (; end < plan.runs.size() && plan.runs[end].labels == plan.runs[i].labels; ++end)
      if (auto one = finished_run(plan, outcome.runs[end], plan.runs[end], cut_folder(out)))
        finished.push_back(std::move(*one));
    finished = comparable(std::move(finished), results.left_out);
    add_runs(table, plan, plan.runs[i], finished, results, found);
  }
  if (!results.first_run.empty())
    for (const TableMetric& metric : table.metrics)
      for (const std::string& path : metric.paths)
        if (!found.contains(path)) results.absent.insert(path);
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
  const std::vector<std::vector<std::string>> cuts = cuts_of(results);
  for (const ResultRow& row : results.rows) {
    std::vector<report::Cell> printed = {row.name, "printed"}, here = {row.name, "here"};
    bool any_printed = false, any_run = false;
    for (const ResultCell& cell : row.cells) {
      printed.emplace_back(printed_text(cell));
      here.emplace_back(here_text(cell, cuts));
      any_printed = any_printed || !cell.printed.empty();
      any_run = any_run || !cell.values.empty();
    }
    if (any_printed) cells.add_row(std::move(printed));
    if (any_run || !any_printed) cells.add_row(std::move(here));
  }
  std::string out =
      fmt::format("# {} {}: {}\n\n{}\n", table.paper, table.id, table.title, cells.to_markdown());
  const auto add = [&](const std::string& line) { out += line + "\n"; };
  add(fmt::format("*Printed*: by the paper. *Here*: {}. What is empty was not run.\n",
                  here_note(table, results)));
  if (!table.note.empty()) add("- " + table.note);
  for (size_t i = 0; i < table.slips.size(); ++i) add(fmt::format("- †{} {}", i + 1, table.slips[i].note));
  for (const AbsentRows& absent : table.absent)
    add(fmt::format("- Not available: {}: {}", fmt::join(absent.rows, ", "), absent.why));
  if (!table.why.empty()) add("- Not reproduced: " + table.why);
  for (const OfficialFile& file : planned.missing)
    add(fmt::format("- Missing data{}: {}", file.choice.empty() ? "" : " of " + file.choice, file.text()));
  for (const std::vector<std::string>& cut : cuts)
    add(fmt::format("- {}: runs with other settings than the table's: {}", cut_mark(cuts, cut),
                    fmt::join(cut, ", ")));
  if (!results.left_out.empty())
    add(fmt::format("- Left out: runs whose settings differ from those of other seeds in their cell: {}",
                    fmt::join(results.left_out, ", ")));
  if (!results.absent.empty())
    add(fmt::format("- No finished run has {}, the path of a metric of {}", fmt::join(results.absent, ", "),
                    table.file.filename().string()));
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
           {"undefined", cell.undefined},
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
