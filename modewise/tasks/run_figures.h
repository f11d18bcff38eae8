#pragma once
// What the reports of all tasks show in the same way: learning curves, attention matrices, facts about a run.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "modewise/report/figure.h"
#include "modewise/report/html_page.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

constexpr int64_t kLargestFactor = 128;  // positions of an attention factor that a report draws

/// json[key], NaN where it is no number or not there.
double number(const nlohmann::ordered_json& json, const std::string& key);

/// Up to `wanted` of 0 … count − 1, evenly spread, both ends among them.
std::vector<int64_t> spread_samples(int64_t count, int64_t wanted);

/// "hot sum, 12,345 parameters".
std::string model_fact(const std::string& title, const torch::nn::Module& model);
/// The facts that open a page: the run's folder, and when it was started.
void add_run_facts(report::HtmlPage& page, const train::RunFolder& folder);

/// A value of metrics.jsonl, and how its curve is called and drawn.
struct LearningCurve {
  using Style = report::LineSeries::Style;
  LearningCurve(const char* key) : name(key), label(key) {}  // NOLINT: a list of names reads best so
  LearningCurve(const char* key, const char* text, Style drawn = Style::line)
      : name(key), label(text), style(drawn) {}

  std::string name, label;
  Style style = Style::line;
};
/// Values of metrics.jsonl by epoch, those that are there; `best` marks the best evaluation unless it is "".
report::LineChart curve_figure(const std::vector<nlohmann::ordered_json>& lines,
                               const std::vector<LearningCurve>& curves, const std::string& title,
                               const std::string& best = "best");

/// The factor S_i of one layer and mode, a panel a head: row = query, column = key, of sample 0.
report::Panels attention_figure(const at::Tensor& factor, const std::string& title,
                                const std::vector<std::string>& labels);

}  // namespace modewise::tasks
