#include "modewise/tasks/run_groups.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "modewise/core/error.h"
#include "modewise/train/run_folder.h"
#include "modewise/train/train_config.h"

namespace modewise::tasks {
namespace {

/// Appends to the names of groups of one model and task the settings in which they differ.
void tell_apart(std::vector<RunGroup>& groups) {
  std::map<std::string, std::vector<RunGroup*>> same;
  for (RunGroup& group : groups) same[group.task + "\n" + group.name].push_back(&group);
  for (auto& [key, members] : same) {
    if (members.size() < 2) continue;
    const auto settings = [](const RunGroup* group) -> const auto& {
      return group->runs.front().settings;
    };
    for (const auto& [path, value] : settings(members.front())) {
      const bool differs =
          std::any_of(members.begin(), members.end(),
                      [&, p = path, v = value](const auto* one) { return settings(one).at(p) != v; });
      if (!differs) continue;
      for (RunGroup* member : members) member->name += fmt::format(" {}={}", path, settings(member).at(path));
    }
  }
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

nlohmann::ordered_json read_finished_metrics(const std::filesystem::path& path, const std::string& task) {
  const train::RunFolder folder = train::RunFolder::open(path);
  require(std::filesystem::exists(folder.file("metrics.json")), ErrorKind::no_input,
          "{} has not finished (no metrics.json): continue it with modewise train {} --resume {}",
          path.string(), task, path.string());
  nlohmann::ordered_json metrics = folder.read_metrics();
  require(metrics.contains("test") || metrics.contains("test_read"), ErrorKind::no_input,
          "{} was stopped before its evaluation: continue it with modewise train {} --resume {}",
          path.string(), task, path.string());
  return metrics;
}

std::map<std::string, std::string> settings_of(const Fields& fields,
                                               const std::vector<std::string>& incidental) {
  std::map<std::string, std::string> result;
  for (const Field& field : fields.list()) {
    const std::string& path = field.path;
    if (path == "train.seed" || path == "data.path" || path.starts_with("output.") ||
        std::find(incidental.begin(), incidental.end(), path) != incidental.end() ||
        !train::changes_numbers(path.substr(path.find('.') + 1)))
      continue;
    result[path] = Fields::value_text(field);
  }
  return result;
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
    const std::string task_key = run.data_hash + "\n" + run.task;
    const std::string key = task_key + fmt::format("\n{}", fmt::join(run.settings, "\n"));
    auto found = std::find_if(keyed.begin(), keyed.end(), [&](const Keyed& k) { return k.key == key; });
    if (found == keyed.end()) {
      keyed.push_back({task_key, key, {run.model, run.task, {}}});
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

bool begins_task(const std::vector<RunGroup>& groups, size_t i) {
  return i == 0 || groups[i - 1].task != groups[i].task ||
         groups[i - 1].runs.front().data_hash != groups[i].runs.front().data_hash;
}

report::Cell statistic(const RunGroup& group, const std::string& pointer, int decimals, double factor) {
  std::vector<double> values = group.values(pointer);
  if (values.empty()) return report::Cell(std::nan(""), decimals);
  for (double& value : values) value *= factor;
  return report::Cell::mean_sd(mean(values), standard_deviation(values), decimals);
}

nlohmann::ordered_json group_json(const RunGroup& group,
                                  const std::vector<std::pair<std::string, std::string>>& pointers) {
  nlohmann::ordered_json row = {
      {"task", group.task}, {"model", group.name}, {"runs", nlohmann::ordered_json::array()}};
  for (const FinishedRun& run : group.runs)
    row["runs"].push_back({{"path", run.path.string()}, {"seed", run.seed}});
  for (const auto& [name, pointer] : pointers) {
    const std::vector<double> values = pointer.empty() ? std::vector<double>{} : group.values(pointer);
    if (values.empty()) continue;
    const auto deviation = standard_deviation(values);
    row[name] = {
        {"mean", mean(values)},
        {"deviation", deviation ? nlohmann::ordered_json(*deviation) : nlohmann::ordered_json(nullptr)},
        {"values", values}};
  }
  return row;
}

}  // namespace modewise::tasks
