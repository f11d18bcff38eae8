#pragma once
// Sections shared by the reports of all tasks: run facts, learning curves, attention maps, settings.

#include <string>
#include <utility>
#include <vector>

#include "modewise/models/attention_view.h"
#include "modewise/report/html_page.h"
#include "modewise/tasks/run/run.h"
#include "modewise/tasks/run/run_figures.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Title and facts of a page.
struct RunPage {
  std::string data;  // title: "MODEL on DATA"
  std::string subtitle;
  Facts of_data, of_model;  // before and after the model fact
};

report::HtmlPage open_page(Run& run, const RunPage& page);

/// A chart of metrics.jsonl by epoch.
struct LearningChart {
  std::string title;
  std::vector<LearningCurve> curves;
  std::string best = "best";  // mark at the best evaluation; "": none
  std::string caption = {};
};
/// Adds the learning curves; nothing for runs with fewer than two evaluations.
void add_learning(report::HtmlPage& page, const train::RunFolder& folder,
                  const std::vector<LearningChart>& charts);

/// Name and labels of a token mode for figures.
struct NamedMode {
  std::string name;
  std::vector<std::string> labels = {};  // labels of its positions; empty: numbers
};
/// Words for the attention section: "the last test window", whose tokens fill a "tensor" of "mode"s.
struct AttentionSubject {
  std::string sample, whole;
  std::string mode = "mode";
};
/// Adds the attention factors of each layer, mode and head; nothing for models without them.
void add_attention(report::HtmlPage& page, const std::vector<models::ModeMaps>& layers,
                   const AttentionSubject& subject, const std::vector<NamedMode>& modes);

}  // namespace modewise::tasks
