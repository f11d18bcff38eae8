#pragma once
// What the commands do for a task that gives classes to samples.

#include <memory>
#include <string>
#include <vector>

#include "modewise/tasks/kind.h"
#include "modewise/tasks/labelled/labelled_run.h"

namespace modewise::tasks {

std::unique_ptr<Job> make_labelled_job(std::unique_ptr<LabelledRun> run);
Result evaluate_labelled(std::unique_ptr<LabelledRun> run, const EvaluateRequest& request);
Result predict_labelled(std::unique_ptr<LabelledRun> run, const PredictRequest& request);
void report_labelled(std::unique_ptr<LabelledRun> run, const std::string& path, const std::string& data,
                     const std::filesystem::path& out);
Explanation explain_labelled(std::unique_ptr<LabelledRun> run, const ExplainRequest& request);
FinishedRun read_labelled(LabelledRun& run, const std::filesystem::path& path);
/// AUC and accuracy in percent, as the papers' tables; `read` is left to the caller.
Comparison labelled_comparison(const LabelledRun& run);
/// Kind::ensemble; `select` sets the figure that --model auto judges by.
std::vector<std::string> labelled_ensemble(const std::string& select);
AnyConfig config_of(std::shared_ptr<LabelledRun> run);

/// `kind` with the functions that it does not have itself, for runs from make().
template <std::unique_ptr<LabelledRun> (*make)()>
Kind labelled_kind(Kind kind) {
  kind.defaults = [] { return config_of(make()); };
  kind.config = [](const std::string& file, const std::vector<std::string>& assignments) {
    std::shared_ptr<LabelledRun> run = make();
    run->load_config(file, assignments);
    return config_of(std::move(run));
  };
  kind.job = [] { return make_labelled_job(make()); };
  if (!kind.evaluate)
    kind.evaluate = [](const EvaluateRequest& request) { return evaluate_labelled(make(), request); };
  kind.predict = [](const PredictRequest& request) { return predict_labelled(make(), request); };
  kind.write_report = [](const std::string& run, const std::string& data, const std::filesystem::path& out) {
    report_labelled(make(), run, data, out);
  };
  kind.comparison = []() -> const Comparison& {
    static const Comparison comparison = [] {
      Comparison made = labelled_comparison(*make());
      made.read = [](const std::filesystem::path& path) { return read_labelled(*make(), path); };
      return made;
    }();
    return comparison;
  };
  kind.explain = [](const ExplainRequest& request) { return explain_labelled(make(), request); };
  return kind;
}

}  // namespace modewise::tasks
