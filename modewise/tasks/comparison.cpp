#include "modewise/tasks/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/parse_json.h"

namespace modewise::tasks {

namespace {

bool all_tested(const RunGroup& group) {
  return std::all_of(group.runs.begin(), group.runs.end(),
                     [](const FinishedRun& run) { return run.metrics.contains("test"); });
}

}  // namespace

std::vector<FinishedRun> read_finished_runs(const Comparison& comparison,
                                            const std::vector<std::string>& paths) {
  std::vector<FinishedRun> runs;
  for (const std::string& path : paths) runs.push_back(comparison.read(path));
  return runs;
}

report::Table comparison_table(const Comparison& comparison, const std::vector<RunGroup>& groups) {
  std::vector<report::Column> columns = {{"task"}, {"model"}, {"seeds"}};
  for (const Comparison::Figure& figure : comparison.columns) columns.push_back(figure.column);
  report::Table table(columns);
  table.best_by_group = true;
  for (size_t i = 0; i < groups.size(); ++i) {
    const RunGroup& group = groups[i];
    const bool new_task = begins_task(groups, i);
    if (new_task && i > 0) table.add_rule();
    std::vector<report::Cell> cells = {new_task ? group.task : "", group.name, std::ssize(group.runs)};
    for (const Comparison::Figure& figure : comparison.columns)
      cells.push_back(statistic(group, figure.place.in(group), figure.decimals, figure.factor));
    table.add_row(std::move(cells));
  }
  return table;
}

nlohmann::ordered_json comparison_json(const Comparison& comparison, const std::vector<RunGroup>& groups) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const RunGroup& group : groups) {
    std::vector<std::pair<std::string, std::string>> pointers;
    for (const auto& [name, place] : comparison.json) pointers.emplace_back(name, place.in(group));
    rows.push_back(group_json(group, pointers));
  }
  return {{"groups", rows}};
}

void write_comparison(const Comparison& comparison, const std::vector<FinishedRun>& runs,
                      const std::filesystem::path& out) {
  const std::vector<RunGroup> groups = group_runs(runs);
  report::HtmlPage page(comparison.title, fmt::format("{} runs", runs.size()));
  page.add_section(comparison.section);
  page.add_table(comparison_table(comparison, groups),
                 "Mean ± standard deviation over seeds; the best of each task is marked.");
  for (size_t begin = 0; begin < groups.size();) {
    size_t end = begin + 1;
    while (end < groups.size() && !begins_task(groups, end)) ++end;
    page.add_section(groups[begin].task);
    const auto shown = std::span(groups).subspan(begin, end - begin);
    if (std::all_of(shown.begin(), shown.end(), all_tested))
      comparison.draw(page, shown);
    else
      page.add_paragraph(
          "No figures: the test part of some of these runs is still unread. modewise evaluate RUN reads it.");
    begin = end;
  }
  page.write(out);
}

std::string hash_of_data(const train::RunFolder& folder) {
  const std::filesystem::path file = folder.file("data.json");
  const auto data = parse_json(read_file(file), file.string());
  require(data.is_object() && data.contains("hash") && data["hash"].is_string(), ErrorKind::data,
          "{} is not a description of data with its hash", file.string());
  return data["hash"];
}

}  // namespace modewise::tasks
