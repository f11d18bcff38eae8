#include "modewise/tasks/run/run_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace modewise::tasks {
namespace {

/// Means of map [N, N] over blocks of `block` rows and columns, row by row; the last blocks may be smaller.
std::vector<double> block_means(const at::Tensor& map, int64_t block) {
  const at::Tensor plain = map.to(at::kDouble).contiguous();
  const double* values = plain.const_data_ptr<double>();
  const int64_t n = plain.size(0), count = (n + block - 1) / block;
  std::vector<double> out(static_cast<size_t>(count * count));
  for (int64_t row = 0; row < n; ++row)
    for (int64_t column = 0; column < n; ++column)
      out[static_cast<size_t>(row / block * count + column / block)] += values[row * n + column];
  const auto size = [&](int64_t i) { return std::min(block, n - i * block); };
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < count; ++j)
      out[static_cast<size_t>(i * count + j)] /= static_cast<double>(size(i) * size(j));
  return out;
}

}  // namespace

double number(const nlohmann::ordered_json& json, const std::string& key) {
  return json.contains(key) && json[key].is_number() ? json[key].get<double>() : std::nan("");
}

std::vector<int64_t> spread_samples(int64_t count, int64_t wanted) {
  const int64_t kept = std::min(count, wanted);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < kept; ++i) out.push_back(kept > 1 ? i * (count - 1) / (kept - 1) : 0);
  return out;
}

void add_run_facts(report::HtmlPage& page, const train::RunFolder& folder) {
  page.add_fact("run", folder.path().string());
  page.add_fact("started", folder.read_manifest().value("started", "unknown"));
}

report::LineChart curve_figure(const std::vector<nlohmann::ordered_json>& lines,
                               const std::vector<LearningCurve>& curves, const std::string& title,
                               const std::string& best) {
  report::LineChart chart;
  chart.title = title;
  chart.x.label = "epoch";
  for (const LearningCurve& curve : curves) {
    report::LineSeries line;
    line.label = curve.label;
    line.style = curve.style;
    for (const nlohmann::ordered_json& one : lines) {
      if (!one.contains(curve.name)) continue;
      line.x.push_back(number(one, "epoch"));
      line.y.push_back(number(one, curve.name));
    }
    if (!line.x.empty()) chart.series.push_back(std::move(line));
  }
  double epoch = std::nan("");
  for (const nlohmann::ordered_json& one : lines)
    if (one.value("best", false)) epoch = number(one, "epoch");
  if (!best.empty() && std::isfinite(epoch)) chart.marks.push_back({epoch, best});
  return chart;
}

bool rows_sum_to_one(std::span<const at::Tensor> matrices) {
  constexpr double kRounding = 1e-3;
  return std::ranges::all_of(matrices, [](const at::Tensor& matrix) {
    if (!matrix.defined()) return true;
    const at::Tensor sums = matrix.sum(-1, false, at::kDouble);
    return sums.sub(1).abs().lt(kRounding).logical_or(sums.eq(0)).all().item<bool>();
  });
}

report::Panels attention_figure(const at::Tensor& factor, const std::string& title,
                                const std::vector<std::string>& labels) {
  const int64_t heads = factor.size(1), n = factor.size(2);
  const int64_t block = (n + kLargestMap - 1) / kLargestMap, rows = (n + block - 1) / block;
  report::Panels panels;
  panels.title = title;
  if (block > 1)
    panels.title +=
        fmt::format(", downsampled: means over blocks of {} × {} of its {} × {} weights", block, block, n, n);
  panels.columns = static_cast<int>(std::min<int64_t>(heads, 4));
  panels.share_color = true;
  for (int64_t head = 0; head < heads; ++head) {
    report::HeatMap map;
    map.title = fmt::format("head {}", head + 1);
    map.x_label = block > 1 ? fmt::format("attended, block of {}", block) : "attended";
    map.y_label = block > 1 ? fmt::format("attending, block of {}", block) : "attending";
    map.value_label = block > 1 ? "mean weight" : "weight";
    map.rows = map.columns = rows;
    map.values = block_means(factor.select(0, 0).select(0, head), block);
    map.min = 0;
    if (n <= 24) map.row_labels = map.column_labels = labels;
    panels.panels.emplace_back(std::move(map));
  }
  return panels;
}

}  // namespace modewise::tasks
