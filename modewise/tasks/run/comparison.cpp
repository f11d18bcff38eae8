#include "modewise/tasks/run/comparison.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/name_index.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/run_documents.h"
#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/loop/train_config.h"

namespace modewise::tasks {
namespace {

/// Lists of paths or TOML files: too long for a name.
bool lists_members(const std::string& path) {
  return path == "model.ensemble.runs" || path == "model.ensemble.members";
}

/// Gives runs whose test split is unread the data of an evaluated run that was trained on the same rows.
void join_evaluated(std::vector<FinishedRun>& runs) {
  std::map<std::string, std::string> evaluated;  // data by those of the training
  for (const FinishedRun& run : runs)
    if (run.trained_hash != run.data_hash) evaluated.emplace(run.trained_hash, run.data_hash);
  for (FinishedRun& run : runs) {
    const auto found = evaluated.find(run.data_hash);
    if (found != evaluated.end() && !run.metrics.contains("test")) run.data_hash = found->second;
  }
}

/// Appends the differing settings to the names of groups of one model and task, or else a run's folder.
void tell_apart(std::vector<RunGroup>& groups) {
  std::map<std::string, std::vector<RunGroup*>> same;
  for (RunGroup& group : groups) same[group.task + "\n" + group.name].push_back(&group);
  for (auto& [key, members] : same) {
    if (members.size() < 2) continue;
    const auto settings = [](const RunGroup* group) -> const auto& {
      return group->runs.front().settings;
    };
    for (const auto& [path, value] : settings(members.front())) {
      if (lists_members(path)) continue;
      const bool differs =
          std::any_of(members.begin(), members.end(),
                      [&, p = path, v = value](const auto* one) { return settings(one).at(p) != v; });
      if (!differs) continue;
      for (RunGroup* member : members) member->name += fmt::format(" {}={}", path, settings(member).at(path));
    }
    std::map<std::string, int64_t> named;
    for (const RunGroup* member : members) ++named[member->name];
    for (RunGroup* member : members)
      if (named[member->name] > 1) member->name += fmt::format(" ({})", member->runs.front().path.string());
  }
}

bool all_tested(const RunGroup& group) {
  return std::all_of(group.runs.begin(), group.runs.end(),
                     [](const FinishedRun& run) { return run.metrics.contains("test"); });
}

/// Whether group i begins another task than the previous one.
bool begins_task(const std::vector<RunGroup>& groups, size_t i) {
  return i == 0 || groups[i - 1].task != groups[i].task ||
         groups[i - 1].runs.front().data_hash != groups[i].runs.front().data_hash;
}

/// Mean ± standard deviation of a metric over a group's runs, comparable with those on the same test samples
/// and levels; with their number, comparable with none, if some runs lack it; empty if none has it.
report::Cell statistic(const RunGroup& group, const Comparison::Figure& figure) {
  std::vector<double> values = group.values(figure.place.in(group));
  if (values.empty()) return report::Cell(std::nan(""), figure.decimals);
  for (double& value : values) value *= figure.factor;
  report::Cell cell = report::Cell::mean_sd(mean(values), standard_deviation(values), figure.decimals);
  if (values.size() < group.runs.size())
    return report::Cell::number(mean(values),
                                fmt::format("{} ({} of {})", cell.text(), values.size(), group.runs.size()))
        .within("some of " + group.runs.front().path.string());
  return std::move(cell).within(group.runs.front().tested +
                                (figure.levels == nullptr ? "" : "\n" + figure.levels(group)));
}

/// The size of the evaluated test split; "" if it is unread.
std::string tested_samples(const nlohmann::ordered_json& metrics) {
  const nlohmann::ordered_json test = metrics.value("test", nlohmann::ordered_json::object());
  for (const char* unit : {"windows", "samples", "pixels", "images", "tokens"})
    if (test.contains(unit)) return fmt::format("{} {}", test[unit].dump(), unit);
  return "";
}

/// Adds a run to those of its settings, unless they have its seed.
void add_run(std::vector<FinishedRun>& runs, FinishedRun run) {
  const auto same = std::ranges::find(runs, run.seed, &FinishedRun::seed);
  if (same == runs.end())
    runs.push_back(std::move(run));
  else if (std::filesystem::equivalent(same->path, run.path))
    spdlog::warn("duplicate run {}: it counts once", run.path.string());
  else
    spdlog::warn("{} has the settings, data and seed of {} and does not count as another seed",
                 run.path.string(), same->path.string());
}

/// {"task", "model", "runs": [{"path", "seed"}]}, and for each name the mean, standard deviation and values
/// at its pointer.
nlohmann::ordered_json group_json(const RunGroup& group,
                                  const std::vector<std::pair<std::string, std::string>>& pointers) {
  nlohmann::ordered_json row = {
      {"task", group.task}, {"model", group.name}, {"runs", nlohmann::ordered_json::array()}};
  for (const FinishedRun& run : group.runs)
    row["runs"].push_back({{"path", run.path.string()}, {"seed", run.seed}});
  for (const auto& [name, pointer] : pointers) {
    const std::vector<double> values = pointer.empty() ? std::vector<double>{} : group.values(pointer);
    if (values.empty()) continue;
    const auto stddev = standard_deviation(values);
    row[name] = {{"mean", mean(values)},
                 {"std", stddev ? nlohmann::ordered_json(*stddev) : nlohmann::ordered_json(nullptr)},
                 {"deviation", stddev ? nlohmann::ordered_json(*stddev)
                                      : nlohmann::ordered_json(nullptr)},  // old name of std
                 {"values", values}};
  }
  return row;
}

/// The numbers that each of `lines` has, as their mean.
nlohmann::ordered_json mean_line(const std::vector<const nlohmann::ordered_json*>& lines) {
  nlohmann::ordered_json result = nlohmann::ordered_json::object();
  for (const auto& [key, value] : lines.front()->items()) {
    std::vector<double> values;
    for (const nlohmann::ordered_json* line : lines)
      if (line->contains(key) && (*line)[key].is_number()) values.push_back((*line)[key].get<double>());
    if (values.size() == lines.size()) result[key] = mean(values);
  }
  return result;
}

/// Whether the setting is the path of data, whose contents the data hash has.
bool names_data(const Field& field) {
  const auto* const text = std::get_if<std::string*>(&field.value);
  return field.path.starts_with("data.") && field.rule.is_path != nullptr && text != nullptr &&
         ((*text)->empty() || field.rule.is_path(**text));
}

/// Settings without `incidental` ones, paths of data, and those that change no result.
std::map<std::string, std::string> distinguishing(const Fields& fields,
                                                  const std::vector<std::string>& incidental) {
  std::map<std::string, std::string> result;
  for (const Field& field : fields.list()) {
    const std::string& path = field.path;
    if (path == "train.seed" || path == "data.path" || path.starts_with("output.") || names_data(field) ||
        std::find(incidental.begin(), incidental.end(), path) != incidental.end() ||
        !train::changes_numbers(path.substr(path.find('.') + 1)))
      continue;
    result[path] = Fields::value_text(field);
  }
  return result;
}

}  // namespace

std::string first_run_name(const RunGroup& group) {
  return group.runs.size() == 1 ? group.name
                                : fmt::format("{} (seed {})", group.name, group.runs.front().seed);
}

NamedLines mean_lines(const RunGroup& group, const std::function<MetricLines(const FinishedRun&)>& lines_of) {
  std::vector<MetricLines> all;
  for (const FinishedRun& run : group.runs) all.push_back(lines_of(run));
  const auto steps_of = [](const MetricLines& lines) {
    std::vector<std::string> steps;
    for (const nlohmann::ordered_json& line : lines)
      steps.push_back(line.value("step", nlohmann::ordered_json()).dump());
    return steps;
  };
  const bool equal = std::ranges::all_of(
      all, [&](const MetricLines& lines) { return steps_of(lines) == steps_of(all.front()); });
  if (all.size() == 1 || !equal) return {first_run_name(group), all.front()};
  NamedLines result = {group.name, {}};
  for (size_t i = 0; i < all.front().size(); ++i) {
    std::vector<const nlohmann::ordered_json*> lines;
    for (const MetricLines& run : all) lines.push_back(&run[i]);
    result.lines.push_back(mean_line(lines));
  }
  return result;
}

NamedLines learning_lines(const RunGroup& group) {
  return mean_lines(
      group, [](const FinishedRun& run) { return train::RunFolder::open(run.path).read_metric_lines(); });
}

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
    std::string task_key;
    RunGroup group;
  };
  std::vector<Keyed> keyed;
  NameIndex places;  // of keys in keyed
  join_evaluated(runs);
  for (FinishedRun& run : runs) {
    const std::string task_key = run.data_hash + "\n" + run.task;
    const std::string key = task_key + fmt::format("\n{}", fmt::join(run.settings, "\n"));
    const auto [at, is_new] = places.add(key);
    if (is_new) keyed.push_back({task_key, {run.model, run.task, {}}});
    add_run(keyed[at].group.runs, std::move(run));
  }
  // Groups by task, in order of first appearance of the tasks.
  NameIndex order;
  for (const Keyed& one : keyed) order.add(one.task_key);
  std::stable_sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    return *order.find(a.task_key) < *order.find(b.task_key);
  });
  std::vector<RunGroup> groups;
  for (Keyed& one : keyed) groups.push_back(std::move(one.group));
  tell_apart(groups);
  return groups;
}

report::BarChart group_bars(const std::string& title, std::span<const RunGroup> groups,
                            const std::string& pointer, double factor) {
  report::BarChart bars;
  bars.title = title;
  report::BarSeries series;
  series.label = title;
  for (const RunGroup& group : groups) {
    const std::vector<double> values = group.values(pointer);
    bars.categories.push_back(group.name);
    series.values.push_back(factor * mean(values));
    series.errors.push_back(factor * standard_deviation(values).value_or(0));
  }
  bars.series.push_back(std::move(series));
  return bars;
}

FinishedRun read_run_identity(const TaskSpec& task, const train::RunFolder& folder) {
  FinishedRun finished;
  finished.path = folder.path();
  const nlohmann::ordered_json data = read_run_data(folder);
  require(data.contains("hash") && data["hash"].is_string(), ErrorKind::data,
          "{} does not describe data with a hash", folder.file("data.json").string());
  finished.data_hash = data["hash"];
  if (std::filesystem::exists(folder.file("manifest.json")))
    finished.trained_hash = folder.read_manifest().value("data_hash", "");
  const std::unique_ptr<Run> run = read_run_settings(task, folder);
  const RunSettings settings = run->settings();
  const Comparison& comparison = task.comparison();
  finished.model = settings.model;
  finished.task = comparison.compared == nullptr ? settings.data : comparison.compared(*run);
  finished.settings = distinguishing(settings.fields, comparison.incidental);
  finished.seed = settings.train.seed;
  return finished;
}

FinishedRun read_finished_run(const TaskSpec& task, const std::filesystem::path& path) {
  const train::RunFolder folder = train::RunFolder::open(path);
  const std::string advice =
      fmt::format("resume it with modewise train {} --resume {}", task.command, command_word(path.string()));
  require(std::filesystem::exists(folder.file("metrics.json")), ErrorKind::no_input,
          "{} has not finished (no metrics.json): {}", path.string(), advice);
  nlohmann::ordered_json metrics = folder.read_metrics();
  require(metrics.contains("test") || metrics.contains("test_read"), ErrorKind::no_input,
          "{} was interrupted before its evaluation: {}", path.string(), advice);
  FinishedRun finished = read_run_identity(task, folder);
  finished.path = path;
  finished.metrics = std::move(metrics);
  finished.tested = tested_samples(finished.metrics);
  return finished;
}

std::vector<FinishedRun> read_finished_runs(const TaskSpec& task, const std::vector<std::string>& paths) {
  std::vector<FinishedRun> runs;
  for (const std::string& path : paths)
    runs.push_back(reading_run(path, [&] { return read_finished_run(task, path); }));
  return runs;
}

report::Table comparison_table(const Comparison& comparison, const std::vector<RunGroup>& groups,
                               bool repeat_task) {
  std::vector<report::Column> columns = {{"task"}, {"model"}, {"seeds"}};
  const auto shown = [&](const Comparison::Figure& figure) {
    return !figure.where_any || std::any_of(groups.begin(), groups.end(), [&](const RunGroup& group) {
      return !group.values(figure.place.in(group)).empty();
    });
  };
  std::vector<const Comparison::Figure*> figures;
  for (const Comparison::Figure& figure : comparison.columns)
    if (shown(figure)) figures.push_back(&figure);
  for (const Comparison::Figure* figure : figures) columns.push_back(figure->column);
  report::Table table(columns);
  table.best_by_group = true;
  for (size_t i = 0; i < groups.size(); ++i) {
    const RunGroup& group = groups[i];
    const bool new_task = begins_task(groups, i);
    if (new_task && i > 0) table.add_rule();
    std::vector<report::Cell> cells = {new_task || repeat_task ? group.task : "", group.name,
                                       std::ssize(group.runs)};
    for (const Comparison::Figure* figure : figures) cells.push_back(statistic(group, *figure));
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
  size_t all = 0;
  for (const RunGroup& group : groups) all += group.runs.size();
  report::HtmlPage page(comparison.title, counted(all, "run"));
  page.add_section(comparison.section);
  page.add_table(comparison_table(comparison, groups),
                 "Mean ± standard deviation over seeds; the best of each task is marked, among runs with the "
                 "same test data.");
  for (size_t begin = 0; begin < groups.size();) {
    size_t end = begin + 1;
    while (end < groups.size() && !begins_task(groups, end)) ++end;
    page.add_section(groups[begin].task);
    const auto shown = std::span(groups).subspan(begin, end - begin);
    if (std::all_of(shown.begin(), shown.end(), all_tested))
      comparison.draw(page, shown);
    else
      page.add_paragraph(
          "No figures: the test split of some of these runs is still unread. modewise evaluate RUN evaluates "
          "it.");
    begin = end;
  }
  page.write(out);
}

}  // namespace modewise::tasks
