#pragma once
// Figures and facts shared by the reports of all tasks: learning curves, attention maps, run facts.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "modewise/report/figure.h"
#include "modewise/report/html_page.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::tasks {

constexpr int64_t kLargestMap = 160;  // maximum rows and columns of a drawn attention map

/// json[key]; NaN if it is missing or not a number.
double number(const nlohmann::ordered_json& json, const std::string& key);

/// Up to `wanted` of 0 … count − 1, evenly spaced, including both ends.
std::vector<int64_t> spread_samples(int64_t count, int64_t wanted);

/// Adds run folder and start time.
void add_run_facts(report::HtmlPage& page, const train::RunFolder& folder);

/// A value of metrics.jsonl with label and style of its curve.
struct LearningCurve {
  using Style = report::LineSeries::Style;
  LearningCurve(const char* key) : name(key), label(key) {}  // NOLINT: a list of names reads best so
  LearningCurve(const char* key, const char* text, Style drawn = Style::line)
      : name(key), label(text), style(drawn) {}

  std::string name, label;
  Style style = Style::line;
};
/// Chart of metrics.jsonl by epoch, without missing values; `best` marks the best evaluation ("": no mark).
report::LineChart curve_figure(const std::vector<nlohmann::ordered_json>& lines,
                               const std::vector<LearningCurve>& curves, const std::string& title,
                               const std::string& best = "best");

/// Whether the rows of all matrices [B, H, N, N] sum to 1, as those of a softmax, or to 0 where masked.
bool rows_sum_to_one(std::span<const at::Tensor> matrices);

/// Factor S_i [B, H, N, N] of one layer and mode for sample 0, one panel per head: row = query, column = key.
/// Above kLargestMap positions it is downsampled: a cell is the mean over a block of c × c weights, c = ⌈N /
/// kLargestMap⌉ (the last blocks may be smaller), and the title says so.
report::Panels attention_figure(const at::Tensor& factor, const std::string& title,
                                const std::vector<std::string>& labels);

}  // namespace modewise::tasks
