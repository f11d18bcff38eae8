#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <spdlog/spdlog.h>

#include "cli/commands.h"
#include "cli/sweep_launch.h"
#include "modewise/core/build_info.h"
#include "modewise/core/closed_pipe.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/nearest_name.h"
#include "modewise/core/parse_json.h"
#include "modewise/core/remove_tree.h"
#include "modewise/core/stop_signal.h"
#include "modewise/io/ascii.h"
#include "modewise/sweep/paper_results.h"
#include "modewise/sweep/paper_table.h"
#include "modewise/tasks/registry.h"

namespace modewise::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct ReproduceOptions {
  std::string papers, paper, table, data;
  sweep::SweepOverrides overrides;
  LaunchOptions launch;
  int64_t measure = 0;
  bool list = false, cost = false;
};

/// "runs with ETTh1.csv, weather.csv"
std::string state_of(const sweep::PaperTable& table) {
  if (table.task.empty()) return "no runs";
  const std::vector<std::string> needs = sweep::texts_of(table.files);
  return needs.empty() ? "runs" : fmt::format("runs with {}", fmt::join(needs, ", "));
}

void list_tables(const Program& program, const ReproduceOptions& options, const fs::path& folder) {
  std::string text, before;
  Json json = Json::array();
  std::vector<sweep::PaperTable> all = sweep::all_paper_tables(folder);
  for (const sweep::PaperTable& table : all) {
    if (!options.paper.empty() && table.paper != options.paper) continue;
    if (table.paper != before) {
      text += fmt::format("{}{}: {}\n", before.empty() ? "" : "\n", table.paper,
                          sweep::paper_title(folder, table.paper));
      before = table.paper;
    }
    const std::string state = state_of(table);
    text += fmt::format("  {:<15} {}\n                  {}{}\n", table.id, table.title, state,
                        table.why.empty() ? "" : (table.task.empty() ? ": " : "; not: ") + table.why);
    Json files = Json::array();
    for (const sweep::OfficialFile& file : table.files)
      files.push_back({{"choice", file.choice}, {"setting", file.setting}, {"names", file.names}});
    json.push_back({{"paper", table.paper},
                    {"table", table.id},
                    {"title", table.title},
                    {"task", table.task},
                    {"state", table.task.empty() ? "no runs" : "runs"},
                    {"why", table.why},
                    {"files", files}});
  }
  require(!json.empty(), ErrorKind::no_input, "there is no paper '{}'; --list shows all", options.paper);
  text.pop_back();
  program.print(tasks::Result(std::move(json), std::move(text)));
}

/// Without ASCII punctuation, in lower case: "HOT (product)" and "hot-product" are the same.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80)
      out += io::to_lower(c);
  return out;
}

bool is_choice(const sweep::SweepPlan& plan, const std::string& name) {
  return std::ranges::any_of(plan.runs, [&](const sweep::SweepRun& run) {
    return run.name == name || std::ranges::find(run.labels, name) != run.labels.end();
  });
}

/// The runs that `only` names: with one of the named choices of each axis that has any, and of these the
/// named runs if there are any.
std::vector<std::string> wanted_runs(const sweep::SweepPlan& plan, const std::vector<std::string>& only) {
  if (only.empty()) return {};
  std::vector<std::set<std::string>> choices(plan.axes.size());
  std::set<std::string> names;
  std::vector<std::string> known;
  for (const std::string& one : only) {
    const bool exact = is_choice(plan, one);  // "10" of 1.0 and 10
    bool found = false;
    for (const sweep::SweepRun& run : plan.runs) {
      if (run.name == one) found = names.insert(one).second || found;
      for (size_t axis = 0; axis < plan.axes.size(); ++axis) {
        const std::string& label = run.labels[axis];
        if (std::find(known.begin(), known.end(), label) == known.end()) known.push_back(label);
        if (exact ? label != one : plain(label) != plain(one)) continue;
        choices[axis].insert(label);
        found = true;
      }
    }
    require(found, ErrorKind::usage, "--only {}: {} has no such run or choice{}; choices: {}", one, plan.name,
            nearest_name_hint(one, known), fmt::join(known, ", "));
  }
  std::vector<std::string> out;
  for (const sweep::SweepRun& run : plan.runs) {
    bool wanted = names.empty() || names.contains(run.name);
    for (size_t axis = 0; axis < choices.size(); ++axis)
      wanted = wanted && (choices[axis].empty() || choices[axis].contains(run.labels[axis]));
    if (wanted) out.push_back(run.name);
  }
  require(!out.empty(), ErrorKind::usage, "--only names choices that no run has together");
  return out;
}

/// The first wanted seed of each cell.
std::vector<const sweep::SweepRun*> cells_of(const sweep::SweepPlan& plan,
                                             const sweep::SweepOptions& options) {
  std::vector<const sweep::SweepRun*> cells;
  for (const sweep::SweepRun& run : plan.runs)
    if (is_wanted(options, run) && (cells.empty() || cells.back()->labels != run.labels))
      cells.push_back(&run);
  return cells;
}

const tasks::TaskSpec& spec_of(const sweep::SweepPlan& plan) {
  for (const tasks::TaskSpec* one : tasks::task_specs())
    if (one->command == plan.command) return *one;
  fail(ErrorKind::config, "{}: unknown task {}", plan.name, plan.task);
}

/// Settings of a run without what is evaluated only after the training, which costs do not count.
std::vector<std::string> training_settings(const sweep::SweepPlan& plan, const sweep::SweepRun& run) {
  std::vector<std::string> settings = run.settings;
  if (plan.task == "language_modeling") settings.push_back("language.lengths=[]");
  return settings;
}

/// Parameters and multiply-adds of a run's model; reads its samples.
nn::ModelCost cost_of(const sweep::SweepPlan& plan, const sweep::SweepRun& run) {
  tasks::Settings settings{plan.config, training_settings(plan, run)};
  settings.training = true;
  const std::unique_ptr<tasks::Run> made = spec_of(plan).create(settings);
  tasks::DataRequest request;
  request.training = true;
  request.with_test = false;
  made->load(request);
  return made->cost();
}

/// Seconds of the training of a whole run, estimated from its first steps.
struct Estimate {
  double step = 0, steps = 0, evaluation = 0, evaluations = 0;
  double total() const { return step * steps + evaluation * evaluations; }
};

int64_t setting_of(const tasks::TaskSpec& spec, const tasks::Settings& given, const std::string& path) {
  const std::unique_ptr<tasks::Run> made = spec.create(given);
  const tasks::RunSettings settings = made->settings();
  for (const Field& field : settings.fields.list())
    if (field.path == path) return *std::get<int64_t*>(field.value);
  return 0;
}

/// From the folder of a run that was stopped after some steps; the whole one has `maximum` steps at most (0:
/// no maximum).
Estimate estimate_of(const tasks::TaskSpec& spec, const fs::path& folder, int64_t maximum) {
  const auto number = [&](const char* file, const char* pointer) {
    const Json json = parse_json(read_file(folder / file), (folder / file).string());
    return json.at(Json::json_pointer(pointer)).get<double>();
  };
  const auto setting = [&](const char* key) {
    return static_cast<double>(setting_of(spec, {(folder / "config.toml").string(), {}}, key));
  };
  const double steps_per_epoch = number("metrics.json", "/steps") / number("metrics.json", "/epochs");
  Estimate out;
  out.steps = steps_per_epoch * setting("train.epochs");
  if (maximum > 0) out.steps = std::min(out.steps, static_cast<double>(maximum));
  out.step = number("timing.json", "/steps/seconds") / number("timing.json", "/steps/count");
  out.evaluation =
      number("timing.json", "/evaluations/seconds") / number("timing.json", "/evaluations/count");
  out.evaluations = out.steps / steps_per_epoch * setting("train.evaluations_per_epoch");
  return out;
}

/// Trains the first seed of each cell for a few steps, in a new folder, which stays if a run failed.
std::map<std::string, Estimate> measure(const sweep::SweepPlan& plan, const sweep::SweepOptions& options,
                                        int64_t steps) {
  const tasks::TaskSpec& spec = spec_of(plan);
  sweep::SweepPlan few = plan;
  few.reads_test = false;
  few.runs.clear();
  for (const sweep::SweepRun* run : cells_of(plan, options)) {
    few.runs.push_back(*run);
    few.runs.back().settings = training_settings(plan, *run);
    few.runs.back().settings.push_back(fmt::format("train.max_steps={}", steps));
  }
  sweep::SweepOptions apart = options;
  apart.only.clear();
  apart.jobs = 1;
  apart.out = options.out / fmt::format("measured-{}-{}", std::time(nullptr), getpid());
  const sweep::SweepOutcome outcome = sweep::run_sweep(few, apart);
  std::map<std::string, Estimate> out;
  for (size_t i = 0; i < few.runs.size(); ++i) {
    if (outcome.runs[i].state != sweep::RunState::finished) continue;
    const sweep::SweepRun& whole = *cells_of(plan, options)[i];
    out[whole.name] = estimate_of(spec, outcome.runs[i].folder,
                                  setting_of(spec, {plan.config, whole.settings}, "train.max_steps"));
  }
  if (outcome.signal != 0) throw Stopped{outcome.signal};
  if (out.size() == few.runs.size()) remove_tree(apart.out);
  return out;
}

void print_costs(const Program& program, const ReproduceOptions& options, const sweep::SweepPlan& plan,
                 const sweep::SweepOptions& sweep_options) {
  std::map<std::string, Estimate> measured;
  if (options.measure > 0) measured = measure(plan, sweep_options, options.measure);
  std::vector<report::Column> columns = {{"run"}, {"parameters"}, {"million multiply-adds per sample"}};
  if (options.measure > 0) columns.insert(columns.end(), {{"s per step"}, {"steps"}, {"hours per seed"}});
  report::Table table(columns);
  Json json = Json::array();
  for (const sweep::SweepRun* run : cells_of(plan, sweep_options)) {
    const nn::ModelCost cost = cost_of(plan, *run);
    const std::string name = fmt::format("{}", fmt::join(run->labels, ", "));
    std::vector<report::Cell> cells = {name, cost.parameters(), report::Cell(cost.multiply_adds() / 1e6, 1)};
    Json one = {
        {"run", run->name}, {"parameters", cost.parameters()}, {"multiply_adds", cost.multiply_adds()}};
    if (const auto at = measured.find(run->name); at != measured.end()) {
      const Estimate& estimate = at->second;
      cells.insert(cells.end(),
                   {report::Cell(estimate.step, 3), report::Cell(static_cast<int64_t>(estimate.steps)),
                    report::Cell(estimate.total() / 3600, 2)});
      one["seconds_per_step"] = estimate.step;
      one["steps"] = estimate.steps;
      one["seconds"] = estimate.total();
    } else if (options.measure > 0) {
      cells.insert(cells.end(), {"failed", "", ""});
    }
    table.add_row(std::move(cells));
    json.push_back(std::move(one));
  }
  program.print(tasks::Result(std::move(json), table.to_text()));
}

/// The arguments that make the same plan in a job of Slurm.
std::vector<std::string> same_arguments(const ReproduceOptions& options) {
  std::vector<std::string> out = {"reproduce", options.paper, options.table, "--data",
                                  fs::absolute(options.data).string()};
  if (!options.papers.empty()) out.insert(out.end(), {"--papers", fs::absolute(options.papers).string()});
  for (const int64_t seed : options.overrides.seeds) out.insert(out.end(), {"--seeds", std::to_string(seed)});
  for (const std::string& setting : options.overrides.settings) out.insert(out.end(), {"--set", setting});
  return out;
}

void log_missing(const sweep::TablePlan& planned) {
  for (const sweep::OfficialFile& file : planned.missing)
    spdlog::warn("{}{} is missing: its cells stay empty", file.choice.empty() ? "" : file.choice + ": ",
                 file.text());
}

/// Writes and prints the table of the finished runs, those that were cut included.
void finish_table(const Program& program, const sweep::PaperTable& table, const sweep::TablePlan& own,
                  const sweep::SweepOptions& options) {
  sweep::SweepOptions all = options;
  all.only.clear();
  const auto alone = sweep::lock_results(all);
  sweep::SweepOutcome outcome = sweep::look_at_sweep(own.plan, all);
  const sweep::PaperResults results = sweep::read_results(table, own.plan, outcome, all.out);
  const std::string text = sweep::results_markdown(table, own, outcome, results);
  Json json = sweep::results_json(table, own, outcome, results);
  Json& runs = json["runs"];
  for (size_t i = runs.size(); i-- > 0;)
    if (!is_wanted(options, own.plan.runs[i])) runs.erase(i);
  write_file_atomically(all.out / (table.id + ".md"), text);
  write_file_atomically(all.out / (table.id + ".json"),
                        json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  program.print(tasks::Result(std::move(json), text));
}

void reproduce(const Program& program, const ReproduceOptions& options) {
  install_stop_handlers();
  const fs::path folder = options.papers.empty() ? installed_folder("papers") : fs::path(options.papers);
  if (options.list) return list_tables(program, options, folder);
  require(!options.paper.empty() && !options.table.empty(), ErrorKind::usage,
          "name a paper and a table, such as hot table1; --list shows them");
  const sweep::PaperTable table = sweep::find_paper_table(folder, options.paper, options.table);
  require(options.launch.launcher != "ray", ErrorKind::usage,
          "--launcher ray needs Python: python -m modewise reproduce {} {} --launcher ray", options.paper,
          options.table);
  require(!options.data.empty() || table.task.empty(), ErrorKind::usage,
          "--data FOLDER is missing: the folder of the official files (docs/reproduce.md)");
  const sweep::TablePlan planned = sweep::plan_table(table, options.data, sweep_tasks(), options.overrides);
  sweep::SweepOverrides own_settings = options.overrides;
  own_settings.settings.clear();
  const sweep::TablePlan own = sweep::plan_table(table, options.data, sweep_tasks(), own_settings);
  log_missing(planned);
  const std::string default_out = "runs/reproduce-" + own.plan.name;
  const sweep::SweepOptions whole = options.launch.of(program, default_out);
  sweep::SweepOptions running = whole;
  running.only = wanted_runs(planned.plan, options.launch.only);
  if (options.launch.dry_run) return list_runs(program, planned.plan, running);
  finish_without_reader();
  if (options.cost || options.measure > 0) return print_costs(program, options, planned.plan, running);
  const bool cut = !options.overrides.settings.empty();
  if (cut) running.out = sweep::cut_folder(whole.out);
  make_folders(running.out);
  sweep::remove_sweep_leftovers(running.out);
  if (options.launch.launcher == "slurm" && !options.launch.table_only)
    return submit_to_slurm(program, options.launch, planned.plan, running, same_arguments(options));
  sweep::SweepOutcome outcome;
  if (!options.launch.table_only) outcome = sweep::run_sweep(planned.plan, running);
  make_folders(whole.out / "claims");
  sweep::SweepOptions shown = whole;
  shown.only = running.only;
  finish_table(program, table, own, shown);
  if (outcome.signal != 0) throw Stopped{outcome.signal};
  require_no_failures(outcome);
}

}  // namespace

void add_reproduce(Program& program) {
  const auto [command, options] = program.add_command<ReproduceOptions>(
      program.app(), "reproduce",
      "Trains the runs of a table of a paper, and writes it beside the printed cells (docs/reproduce.md).",
      "modewise reproduce hot table1 --data datasets --only weather", reproduce);
  command->add_option("paper", options.paper, "paper, as --list shows it");
  command->add_option("table", options.table, "table or figure, such as table1");
  command->add_flag("--list", options.list,
                    "list the tables and figures, what they need, or why they cannot be made");
  command->add_option("--data", options.data, "folder with the official files, at any depth");
  command->add_option("--papers", options.papers, "folder of tables, instead of the installed ones");
  options.launch.add_to(*command, "runs/reproduce-PAPER-TABLE",
                        "start only the runs of this choice, as in --only weather, or this run; repeatable");
  command->add_option("--seeds", options.overrides.seeds, "seeds instead of the table's")->delimiter(',');
  command
      ->add_option("--set", options.overrides.settings,
                   "set one key for all runs, as in --set train.epochs=5; their cells are marked as cut")
      ->allow_extra_args(false);
  command->add_flag("--cost", options.cost, "only print parameters and multiply-adds of the models");
  add_positive(*command, "--measure", options.measure,
               "only print the costs and the time of a run, estimated from this many steps");
}

}  // namespace modewise::cli
