#pragma once
// What the reports of runs show in the same way, whatever the task: the facts of a run, how it learnt, what
// its model attends to, its settings.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "modewise/models/attention_view.h"
#include "modewise/report/html_page.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// What a page is called, and what is written above its first section.
struct RunPage {
  std::string data;  // the page is called "MODEL on DATA"
  std::string subtitle;
  Facts of_data, of_model;  // before and after the model with its size
};

report::HtmlPage open_page(const train::RunFolder& folder, const RunPage& page, const std::string& model,
                           const torch::nn::Module& module, int64_t seed);
/// Of an OpenRun.
template <class Run>
report::HtmlPage open_page(const Run& run, const RunPage& page) {
  return open_page(run.folder, page, model_title(run.config), *run.model, run.config.train.seed);
}

/// Curves of metrics.jsonl by epoch.
struct LearningChart {
  std::string title;
  std::vector<LearningCurve> curves;
  std::string best = "best";  // at the best evaluation; "" for no mark
  std::string caption = {};
};
/// The section of the learning curves; nothing for runs with fewer than two evaluations.
void add_learning(report::HtmlPage& page, const train::RunFolder& folder,
                  const std::vector<LearningChart>& charts);

/// A mode of the tokens, as the figures of its factors name it.
struct NamedMode {
  std::string name;
  std::vector<std::string> labels = {};  // of its positions; empty: numbers
};
/// What is looked at: "the last test window", whose tokens fill a "tensor" of "mode"s.
struct AttentionSubject {
  std::string sample, whole;
  std::string mode = "mode";
};
/// The section of the factors of each layer, mode and head; nothing for models without.
void add_attention(report::HtmlPage& page, const std::vector<models::ModeMaps>& layers,
                   const AttentionSubject& subject, const std::vector<NamedMode>& modes);

/// The section of the settings; then the page is complete and is written to `out`.
void write_page(report::HtmlPage& page, const train::RunFolder& folder, const std::filesystem::path& out);

}  // namespace modewise::tasks
