#include "modewise/sweep/sweep_plan.h"

#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "modewise/core/aliases.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/nearest_name.h"
#include "modewise/sweep/toml_reader.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;

struct Choice {
  std::string name;
  std::vector<std::string> settings;
};
struct Axis {
  std::string name;
  std::vector<Choice> choices;
  std::string key = {};  // whose values are the labels; "" for named choices
};

/// Settings of the runs that have, of each axis with a list, a choice in that list.
struct Group {
  std::vector<std::vector<std::string>> choices;  // by axis
  std::vector<std::string> settings;

  bool applies(const std::vector<std::string>& labels) const {
    for (size_t i = 0; i < choices.size(); ++i)
      if (!choices[i].empty() &&
          std::find(choices[i].begin(), choices[i].end(), labels[i]) == choices[i].end())
        return false;
    return true;
  }
};

constexpr size_t kMaxIndexDigits = 18;

/// Letters, digits, '.', '_', '-' and what is not ASCII; the rest becomes '-'.
std::string file_name_of(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += std::isalnum(byte) != 0 || byte >= 0x80 || c == '.' || c == '_' ? c : '-';
  }
  return out;
}

Axis read_axis(const TomlReader& reader, const toml::table& table) {
  reader.only_keys(table, {"name", "key", "values", "choices"});
  Axis out{reader.text(table, "name", reader.text(table, "key")), {}};
  const std::string here = reader.place(table.source());
  require(!out.name.empty(), ErrorKind::config, "{}: an axis needs a name or a key", here);
  const toml::array* values = table["values"].as_array();
  const toml::array* choices = table["choices"].as_array();
  require((values != nullptr) != (choices != nullptr), ErrorKind::config,
          "{}: axis '{}' needs either key and values, or choices", here, out.name);
  if (values != nullptr) {
    const std::string key = reader.text(table, "key");
    require(!key.empty(), ErrorKind::config, "{}: axis '{}' has values but no key", here, out.name);
    out.key = key;
    for (const toml::node& one : *values)
      out.choices.push_back({reader.assigned(one), {key + "=" + reader.assigned(one)}});
  } else {
    for (const toml::node& one : *choices) {
      require(one.is_table(), ErrorKind::config, "{}: a choice is {{ name = \"…\", set = {{ … }} }}",
              reader.place(one.source()));
      const toml::table& choice = *one.as_table();
      reader.only_keys(choice, {"name", "set"});
      out.choices.push_back({reader.text(choice, "name"), reader.settings(choice, "set")});
      require(!out.choices.back().name.empty(), ErrorKind::config, "{}: a choice needs a name",
              reader.place(one.source()));
    }
  }
  std::set<std::string> names;
  for (const Choice& choice : out.choices)
    require(names.insert(choice.name).second, ErrorKind::config, "{}: axis '{}' has two choices named '{}'",
            here, out.name, choice.name);
  require(!out.choices.empty(), ErrorKind::config, "{}: axis '{}' has no choice", here, out.name);
  return out;
}

Group read_group(const TomlReader& reader, const toml::table& table, const std::vector<Axis>& axes) {
  reader.only_keys(table, {"choices", "set"});
  Group out{std::vector<std::vector<std::string>>(axes.size()), reader.settings(table, "set")};
  const std::string here = reader.place(table.source());
  const std::vector<std::string> names = reader.strings(table, "choices");
  require(!names.empty() && !out.settings.empty(), ErrorKind::config,
          "{}: a group needs choices and a table `set`", here);
  std::vector<std::string> known;
  for (const std::string& name : names) {
    std::vector<std::string> owners;
    for (size_t i = 0; i < axes.size(); ++i) {
      for (const Choice& choice : axes[i].choices) {
        known.push_back(choice.name);
        const std::string whole = axes[i].name + "=" + choice.name;
        if (name != choice.name && name != whole) continue;
        out.choices[i].push_back(choice.name);
        owners.push_back(whole);
      }
    }
    require(!owners.empty(), ErrorKind::config, "{}: no axis has a choice named '{}'{}", here, name,
            nearest_name_hint(name, known));
    require(owners.size() == 1, ErrorKind::config, "{}: several axes have a choice named '{}': write {}",
            here, name, fmt::join(owners, " or "));
  }
  return out;
}

/// `best` without one: that of the task's own metric, and none for other numbers.
SweepMetric read_metric(const TomlReader& reader, const toml::table& table, const SweepTask& task) {
  reader.only_keys(table, {"path", "name", "best", "decimals", "factor"});
  SweepMetric out;
  out.path = reader.text(table, "path");
  require(out.path.starts_with('/'), ErrorKind::config,
          "{}: a metric needs a path into metrics.json, such as \"/best/val_mse\"",
          reader.place(table.source()));
  out.name = reader.text(table, "name", out.path.substr(1));
  const auto own = std::ranges::find(task.metrics, out.path, &SweepMetric::path);
  out.best = reader.text(table, "best", own == task.metrics.end() ? "none" : own->best);
  require(out.best == "lowest" || out.best == "highest" || out.best == "none", ErrorKind::config,
          "{}: best must be lowest, highest or none, got '{}'", reader.place(table.source()), out.best);
  out.decimals = reader.value<int64_t>(table, "decimals", 3, "an integer");
  out.factor = reader.value<double>(table, "factor", 1.0, "a number");
  out.validate(ErrorKind::config, reader.place(table.source()));
  return out;
}

const SweepTask& task_called(const std::string& name, const std::vector<SweepTask>& tasks,
                             const std::string& path) {
  std::vector<std::string> names;
  for (const SweepTask& task : tasks) {
    if (task.command == name || task.name == current_task(name)) return task;
    names.push_back(task.command);
  }
  fail(ErrorKind::config, "{}: task must be one of {}, got '{}'{}", path, fmt::join(names, ", "), name,
       nearest_name_hint(name, names));
}

void require_validation(const std::vector<SweepMetric>& metrics, const std::string& path) {
  for (const SweepMetric& metric : metrics)
    require(metric.path != "/test" && !metric.path.starts_with("/test/"), ErrorKind::config,
            "{}: a sweep does not evaluate the test split, so there is no {}: name a validation metric "
            "(/validation/… or /best/val_…), select by it, and evaluate the test split with modewise "
            "evaluate RUN",
            path, metric.path);
}

/// "validation.auc" as a JSON pointer, with the properties of that metric in the file.
SweepMetric chosen_metric(const std::string& path, const std::vector<SweepMetric>& known) {
  std::string pointer = path;
  if (!pointer.starts_with('/')) {
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    pointer = "/" + pointer;
  }
  for (const SweepMetric& metric : known)
    if (metric.path == pointer) return metric;
  const SweepMetric metric = {pointer, pointer.substr(1), "none", 4, 1};
  metric.validate(ErrorKind::usage, "--metric " + path);
  return metric;
}

std::string beside(const std::string& file, const std::string& path) {
  if (path.empty()) return path;
  return fs::absolute(fs::path(file).parent_path() / path).lexically_normal().string();
}

/// Throws a config error if the grid is too large, before it is built.
void require_bounded(const std::vector<Axis>& axes, size_t seeds, const std::string& path) {
  auto runs = static_cast<int64_t>(seeds);
  bool fits = runs <= kMaxRuns;
  for (const Axis& axis : axes)
    fits = fits && !__builtin_mul_overflow(runs, std::ssize(axis.choices), &runs) && runs <= kMaxRuns;
  if (fits) return;
  std::vector<size_t> factors;
  for (const Axis& axis : axes) factors.push_back(axis.choices.size());
  factors.push_back(seeds);
  fail(ErrorKind::config, "{}: a sweep has at most {} runs, this grid (axes × seeds) has {}", path, kMaxRuns,
       fmt::join(factors, " × "));
}

std::string key_of(const std::string& setting) {
  return setting.substr(0, setting.find('='));
}

/// Keys of settings under their current names.
class CurrentKeys {
 public:
  explicit CurrentKeys(const SweepTask& task) : known_(task.keys.begin(), task.keys.end()) {}

  std::string of(const std::string& setting) const {
    const std::string key = key_of(setting);
    if (known_.empty() || known_.contains(key)) return key;
    const std::string current =
        current_key(key, [&](const std::string& one) { return known_.contains(one); });
    return current.empty() ? key : current;
  }

 private:
  std::set<std::string> known_;
};

/// Throws a config error unless each key of an axis is set by this axis alone (groups and --set refine named
/// choices).
void require_true_labels(const std::vector<Axis>& axes, const std::vector<Group>& groups,
                         const std::vector<std::string>& last, const CurrentKeys& keys,
                         const std::string& path) {
  std::map<std::string, const Axis*> owners;  // of a key
  for (const Axis& axis : axes)
    for (const Choice& choice : axis.choices)
      for (const std::string& setting : choice.settings) {
        const auto [owner, added] = owners.emplace(keys.of(setting), &axis);
        require(
            added || owner->second == &axis, ErrorKind::config,
            "{}: the axes '{}' and '{}' both set {}: the later one would win, and the labels of the other "
            "would be false",
            path, owner->second->name, axis.name, keys.of(setting));
      }
  for (const Axis& axis : axes) {
    if (axis.key.empty()) continue;
    const auto overrides = [&](const std::string& setting) { return keys.of(setting) == keys.of(axis.key); };
    for (const std::string& setting : last)
      require(!overrides(setting), ErrorKind::config,
              "{}: --set {} would override the axis '{}', whose labels would be false: edit the axis", path,
              setting, axis.name);
    for (const Group& group : groups)
      for (const std::string& setting : group.settings)
        require(
            !overrides(setting), ErrorKind::config,
            "{}: a group with {} would override the axis '{}', whose labels would be false: give the axis "
            "named choices",
            path, setting, axis.name);
  }
}

/// Throws a config error if runs have other data than `data` or --data.
void require_own_data(const SweepPlan& plan, const CurrentKeys& keys, const std::string& path) {
  if (plan.data.empty()) return;
  for (const SweepRun& run : plan.runs)
    for (const std::string& setting : run.settings)
      require(keys.of(setting) != "data.path", ErrorKind::config,
              "{}: {} would replace the data {}: give one of them", path, setting, plan.data);
}

/// Throws a config error if settings replace the seeds of the sweep.
void require_own_seeds(const std::vector<SweepRun>& runs, const std::string& path) {
  for (const SweepRun& run : runs)
    for (const std::string& setting : run.settings)
      require(key_of(setting) != "train.seed", ErrorKind::config,
              "{}: {} would replace the seeds of the sweep, of which its table shows mean ± standard "
              "deviation: write seeds = [1, 2, 3], or --seeds 1,2,3",
              path, setting);
}

std::vector<SweepRun> grid(const std::vector<Axis>& axes, const std::vector<Group>& groups,
                           const std::vector<int64_t>& seeds, const std::vector<std::string>& common,
                           const std::vector<std::string>& last) {
  std::vector<SweepRun> runs;
  std::vector<size_t> at(axes.size(), 0);
  while (true) {
    SweepRun cell;
    cell.settings = common;
    for (size_t i = 0; i < axes.size(); ++i) {
      const Choice& choice = axes[i].choices[at[i]];
      cell.labels.push_back(choice.name);
      cell.settings.insert(cell.settings.end(), choice.settings.begin(), choice.settings.end());
      cell.name += (i > 0 ? "_" : "") + file_name_of(choice.name);
    }
    if (axes.empty()) cell.name = "run";
    for (const Group& group : groups)
      if (group.applies(cell.labels))
        cell.settings.insert(cell.settings.end(), group.settings.begin(), group.settings.end());
    cell.settings.insert(cell.settings.end(), last.begin(), last.end());
    for (const int64_t seed : seeds) {
      runs.push_back(cell);
      runs.back().seed = seed;
      runs.back().name += fmt::format("_s{}", seed);
    }
    size_t axis = axes.size();
    while (axis > 0 && ++at[axis - 1] == axes[axis - 1].choices.size()) at[--axis] = 0;
    if (axis == 0) return runs;
  }
}

/// RFC 6901: empty or beginning with '/', each '~' followed by 0 or 1. Indices beyond 64 bits are invalid.
bool is_json_pointer(std::string_view path) {
  if (!path.empty() && path.front() != '/') return false;
  for (size_t at = path.find('~'); at != std::string_view::npos; at = path.find('~', at + 1))
    if (at + 1 == path.size() || (path[at + 1] != '0' && path[at + 1] != '1')) return false;
  size_t digits = 0;
  for (const char c : path) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > kMaxIndexDigits) return false;
  }
  return true;
}

}  // namespace

void SweepMetric::validate(ErrorKind kind, const std::string& place) const {
  require(
      is_json_pointer(path), kind,
      "{}: expected a path into metrics.json, such as /best/val_mse (JSON pointer: '~' is written ~0), got "
      "'{}'",
      place, path);
  require(decimals >= 0 && decimals <= kMaxDecimals, kind, "{}: decimals must be from 0 to {}, got {}", place,
          kMaxDecimals, decimals);
  require(std::isfinite(factor), kind, "{}: factor must be a finite number, got {}", place, factor);
}

SweepPlan read_sweep_plan(const std::string& path, const std::vector<SweepTask>& tasks,
                          const SweepOverrides& overrides) {
  return plan_of(TomlReader(path, read_file(path)), path, tasks, overrides);
}

SweepPlan plan_of(const TomlReader& reader, const std::string& path, const std::vector<SweepTask>& tasks,
                  const SweepOverrides& overrides) {
  reader.only_keys(reader.root(),
                   {"name", "task", "config", "data", "seeds", "settings", "axis", "group", "metric"});
  SweepPlan plan;
  plan.name = file_name_of(reader.text(reader.root(), "name", fs::path(path).stem().string()));
  plan.task = reader.text(reader.root(), "task", tasks.front().command);
  const SweepTask& task = task_called(plan.task, tasks, path);
  plan.command = task.command;
  plan.reads_test = overrides.reads_test;
  plan.config = beside(path, reader.text(reader.root(), "config"));
  plan.data = overrides.data.empty() ? beside(path, reader.text(reader.root(), "data"))
                                     : fs::absolute(overrides.data).lexically_normal().string();
  std::vector<Axis> axes;
  for (const toml::table* table : reader.tables("axis")) {
    axes.push_back(read_axis(reader, *table));
    plan.axes.push_back(axes.back().name);
  }
  std::vector<Group> groups;
  for (const toml::table* table : reader.tables("group")) groups.push_back(read_group(reader, *table, axes));
  for (const toml::table* table : reader.tables("metric"))
    plan.metrics.push_back(read_metric(reader, *table, task));
  plan.default_metrics = plan.metrics.empty() && overrides.metrics.empty();
  if (plan.metrics.empty()) plan.metrics = task.metrics;
  if (!overrides.metrics.empty()) {
    std::vector<SweepMetric> chosen;
    for (const std::string& one : overrides.metrics) chosen.push_back(chosen_metric(one, plan.metrics));
    plan.metrics = chosen;
  }
  require_validation(plan.metrics, path);
  const std::vector<int64_t> seeds =
      overrides.seeds.empty() ? reader.integers("seeds", {0}) : overrides.seeds;
  require_bounded(axes, seeds.size(), path);
  const CurrentKeys keys(task);
  require_true_labels(axes, groups, overrides.settings, keys, path);
  for (const std::string& name : plan.axes)
    require(std::ranges::count(plan.axes, name) == 1, ErrorKind::config, "{}: two axes are named '{}'", path,
            name);
  plan.runs = grid(axes, groups, seeds, reader.settings(reader.root(), "settings"), overrides.settings);
  require_own_seeds(plan.runs, path);
  require_own_data(plan, keys, path);
  std::set<std::string> names;
  for (const SweepRun& run : plan.runs)
    require(names.insert(run.name).second, ErrorKind::config,
            "{}: duplicate run name '{}': names of choices differ too little, or a seed is duplicate", path,
            run.name);
  return plan;
}

std::vector<std::string> training_arguments(const SweepPlan& plan, const SweepRun& run,
                                            const std::string& folder, int64_t threads, bool resume) {
  std::vector<std::string> out = {"train",     plan.command.empty() ? plan.task : plan.command,
                                  "--threads", std::to_string(threads),
                                  "--color",   "never"};
  if (resume) {
    out.insert(out.end(), {"--resume", folder});
    return out;
  }
  if (!plan.config.empty()) out.insert(out.end(), {"--config", plan.config});
  if (!plan.data.empty()) out.insert(out.end(), {"--data", plan.data});
  out.insert(out.end(), {"--seed", std::to_string(run.seed), "--out", folder, "--overwrite"});
  if (!plan.reads_test) out.emplace_back("--no-test");
  for (const std::string& setting : run.settings) out.insert(out.end(), {"--set", setting});
  return out;
}

std::string description(const SweepPlan& plan, const SweepRun& run) {
  return fmt::format("{}\n{}\n{}\nseed {}\n{}\n", plan.task,
                     plan.config.empty() ? "" : read_file(plan.config), plan.data, run.seed,
                     fmt::join(run.settings, "\n"));
}

std::vector<std::string> lines_without_paths(const std::string& description) {
  std::vector<std::string> out;
  std::istringstream lines(description);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    const bool setting = line.starts_with("data.") && equals != std::string::npos;
    if (!line.starts_with('/') && !(setting && line.substr(equals + 1).starts_with('/')))
      out.push_back(std::move(line));
  }
  return out;
}

}  // namespace modewise::sweep
