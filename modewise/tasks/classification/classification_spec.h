#pragma once
// Commands shared by classification tasks.

#include <memory>
#include <string>
#include <vector>

#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/task_spec.h"

namespace modewise::tasks {

std::unique_ptr<Training> make_classification_training(std::unique_ptr<ClassificationRun> run);
Result evaluate_classification(std::unique_ptr<ClassificationRun> run, const EvaluateRequest& request);
Result predict_classification(std::unique_ptr<ClassificationRun> run, const PredictRequest& request);
void report_classification(std::unique_ptr<ClassificationRun> run, const std::string& path,
                           const std::string& data, const std::filesystem::path& out);
Explanation explain_classification(std::unique_ptr<ClassificationRun> run, const ExplainRequest& request);
FinishedRun read_classification(ClassificationRun& run, const std::filesystem::path& path);
/// Comparison of AUC and accuracy in percent; the caller sets `read`.
Comparison classification_comparison(const ClassificationRun& run);
/// TaskSpec::ensemble; `select` sets the selection metric of --model auto.
std::vector<std::string> classification_ensemble(const std::string& select);
AnyConfig config_of(std::shared_ptr<ClassificationRun> run);

/// Completes `kind` with the shared functions, for runs from make().
template <std::unique_ptr<ClassificationRun> (*make)()>
TaskSpec classification_spec(TaskSpec kind) {
  kind.defaults = [] { return config_of(make()); };
  kind.config = [](const std::string& file, const std::vector<std::string>& assignments) {
    std::shared_ptr<ClassificationRun> run = make();
    run->load_config(file, assignments);
    return config_of(std::move(run));
  };
  kind.training = [] { return make_classification_training(make()); };
  if (!kind.evaluate)
    kind.evaluate = [](const EvaluateRequest& request) { return evaluate_classification(make(), request); };
  kind.predict = [](const PredictRequest& request) { return predict_classification(make(), request); };
  kind.write_report = [](const std::string& run, const std::string& data, const std::filesystem::path& out) {
    report_classification(make(), run, data, out);
  };
  kind.comparison = []() -> const Comparison& {
    static const Comparison comparison = [] {
      Comparison made = classification_comparison(*make());
      made.read = [](const std::filesystem::path& path) { return read_classification(*make(), path); };
      return made;
    }();
    return comparison;
  };
  kind.explain = [](const ExplainRequest& request) { return explain_classification(make(), request); };
  return kind;
}

}  // namespace modewise::tasks
