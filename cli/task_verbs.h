#pragma once
// What `evaluate`, `predict`, `report`, `compare`, `explain`, `decompose`, `config show` and `data show` do
// for a run or file of each task. A task is one entry of the table in task_verbs.cpp, and one file of
// functions here.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/config_options.h"
#include "cli/evaluate_language.h"
#include "cli/program.h"
#include "modewise/core/fields.h"
#include "modewise/tasks/attention_matrices.h"
#include "modewise/tasks/comparison.h"
#include "modewise/tasks/explanation.h"

namespace modewise::cli {

struct EvaluateOptions {
  std::string run, data, masks, split = "test", out;
  bool detail = false;
  LanguageEvaluateFlags language;
};

struct PredictOptions {
  std::string run, data, out;
  int64_t steps = 0;
  bool force = false;
};

struct ExplainCommandOptions {
  std::string run, data, masks, out;
  tasks::ExplainOptions options;
};

struct ShowConfigOptions {
  std::string task = "forecast";
  ConfigOptions config;
  std::string run;
  bool help_text = false;
};

struct ShowDataOptions {
  std::string task = "auto", file;
  ConfigOptions config;
};

/// Functions that return an int return the exit code.
struct TaskVerbs {
  std::string task;  // the manifest's name
  int (*evaluate)(const Program&, const EvaluateOptions&);
  int (*predict)(const Program&, const PredictOptions&);
  /// Writes the report of one run to `out`; `data`: where its data lies now, "" where it lay.
  void (*write_report)(const std::string& run, const std::string& data, const std::filesystem::path& out);
  const tasks::Comparison& (*comparison)();
  tasks::Explanation (*explain)(const ExplainCommandOptions&);  // null where nothing is explained
  int (*show_config)(const Program&, const ShowConfigOptions&);
  int (*show_data)(const Program&, const ShowDataOptions&);
  /// For decompose; null where explain has the matrices.
  tasks::AttentionMatrices (*attention)(const tasks::AttentionRequest&) = nullptr;
};

const std::vector<std::string>& task_names();
/// The verbs of the task called `name`.
const TaskVerbs& verbs_of(const std::string& name);
/// The verbs of a run's task. no_input when there is no run; data error for a task this program does not
/// know.
const TaskVerbs& verbs_of_run(const std::string& path);
/// The same for several runs, which must be of one task (usage error).
const TaskVerbs& verbs_of_runs(const std::vector<std::string>& paths);
/// What `file` looks like: TIFF files and folders of them are scenes, NPZ files with MedMNIST's arrays and
/// NIfTI files volumes, .ts files and folders of them labelled series, the rest series to forecast.
std::string task_of_data(const std::string& file);

/// `json`, or `text` where JSON was not asked for.
void print_result(const Program& program, const nlohmann::ordered_json& json, const std::string& text);
/// Every field of a config: TOML, or JSON, with or without the help of each.
void print_config(const Program& program, const Fields& fields, bool help_text);
/// The verb show_config of a task whose config `load(file, assignments)` loads.
template <auto load>
int show_config(const Program& program, const ShowConfigOptions& options) {
  auto config = load(options.run.empty() ? options.config.config : options.run + "/config.toml",
                     options.config.all_assignments());
  print_config(program, fields_of(config), options.help_text);
  return 0;
}

/// cannot_create error for a file that is there, unless `force` says to overwrite it; "" is no file, and
/// devices and pipes hold nothing that could be lost.
void require_new(const std::filesystem::path& file, bool force);
/// Whether predict's --out is an NPZ, of "", .csv and .npz; usage error for another ending.
bool wants_npz(const PredictOptions& options);
/// Usage error when --steps was given; `what` says what the run is.
void refuse_steps(const PredictOptions& options, const std::string& what);

/// `evaluate` for a run or a model of the task language.
int evaluate_language_model(const Program& program, const EvaluateOptions& options);

extern const TaskVerbs forecast_verbs, classify_verbs, segment_verbs, language_verbs, series_verbs;

}  // namespace modewise::cli
