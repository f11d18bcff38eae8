#pragma once
// What `evaluate`, `predict`, `report`, `compare`, `config show` and `data show` do for a run or file of each
// task. A task is one entry of the table in task_verbs.cpp, and one file of functions here.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/config_options.h"
#include "cli/program.h"
#include "modewise/core/fields.h"

namespace modewise::cli {

struct EvaluateOptions {
  std::string run, data, masks, split = "test", out;
  bool detail = false;
};

struct PredictOptions {
  std::string run, data, out;
  int64_t steps = 0;
  bool force = false;
};

struct ReportOptions {
  std::vector<std::string> runs;
  std::string out, data;
  bool force = false;
};

struct CompareOptions {
  std::vector<std::string> runs;
  std::string format = "text";
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

/// Each returns the exit code.
struct TaskVerbs {
  std::string task;  // the manifest's name
  int (*evaluate)(const Program&, const EvaluateOptions&);
  int (*predict)(const Program&, const PredictOptions&);
  int (*report)(const Program&, const ReportOptions&);
  int (*compare)(const Program&, const CompareOptions&);
  int (*show_config)(const Program&, const ShowConfigOptions&);
  int (*show_data)(const Program&, const ShowDataOptions&);
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
/// NIfTI files volumes, the rest series.
std::string task_of_data(const std::string& file);

/// A table in one of compare's formats: text, markdown or csv.
void print_table(const Program& program, const report::Table& table, const std::string& format);
/// Every field of a config: TOML, or JSON, with or without the help of each.
void print_config(const Program& program, const Fields& fields, bool help_text);
/// `path` when it is given (which --force may overwrite, else it must be new), or the run's own report.
std::filesystem::path report_path(const ReportOptions& options);

extern const TaskVerbs forecast_verbs, classify_verbs, segment_verbs;

}  // namespace modewise::cli
