#pragma once
// Commands on finished runs: evaluate, predict, explain, report.

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "modewise/tasks/run/task_spec.h"

namespace modewise::tasks {

/// An option of `evaluate` that has no effect without another: "--stride" needs "--convention sliding".
struct OptionNeed {
  std::string option, needs;
  bool met = false;
};
/// Usage error for an option of the request that lacks what it needs.
void refuse_without_effect(const TaskSpec& task, const EvaluateRequest& request,
                           std::span<const OptionNeed> needs);

/// Evaluates a split of a run, or a model file that the task opens. For the unread test split of a run it
/// also writes the results like training. Usage error for options of a task that has none.
Result evaluate_run(const TaskSpec& task, const EvaluateRequest& request);
/// Opens the run and loads the samples that the request evaluates: its own must be those of its training;
/// others are announced.
std::unique_ptr<Run> open_for_evaluation(const TaskSpec& task, const EvaluateRequest& request);
/// evaluate_run for the split alone, without options of the task.
Result evaluate_split(const TaskSpec& task, const EvaluateRequest& request);

/// Whether predict's --out is an NPZ; "", .csv and .npz are valid, usage error for another extension.
bool wants_npz(const std::string& out);
/// Predicts with a run. Usage error for a task that uses another command.
Result predict_run(const TaskSpec& task, const PredictRequest& request);

/// Writes the explanation of a run to the folder `out`, whose files are overwritten only with `force`, or to
/// RUN/explain ("") if it is empty, which is always overwritten. Returns explanation_json with "report", the
/// page. Usage error for a task without explanations.
Result explain_run(const TaskSpec& task, const ExplainRequest& request, const std::string& out, bool force);

/// Writes the report of a run, which has its model and samples.
void write_report(Run& run, const std::filesystem::path& out);
/// Opens a run and writes its report; `data`: current location of its samples, "": unchanged.
void report_run(const TaskSpec& task, const std::string& run, const std::string& data,
                const std::filesystem::path& out);

}  // namespace modewise::tasks
