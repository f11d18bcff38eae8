#include "modewise/tasks/run/run_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "modewise/report/table.h"

namespace modewise::tasks {

double number(const nlohmann::ordered_json& json, const std::string& key) {
  return json.contains(key) && json[key].is_number() ? json[key].get<double>() : std::nan("");
}

std::vector<int64_t> spread_samples(int64_t count, int64_t wanted) {
  const int64_t kept = std::min(count, wanted);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < kept; ++i) out.push_back(kept > 1 ? i * (count - 1) / (kept - 1) : 0);
  return out;
}

std::string model_fact(const std::string& title, const torch::nn::Module& model) {
  int64_t parameters = 0;
  for (const at::Tensor& parameter : model.parameters()) parameters += parameter.numel();
  return fmt::format("{}, {} parameters", title, report::Cell::count(parameters).text());
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

report::Panels attention_figure(const at::Tensor& factor, const std::string& title,
                                const std::vector<std::string>& labels) {
  const at::Tensor maps = factor.select(0, 0).to(at::kDouble).contiguous();  // [heads, N, N]
  const int64_t heads = maps.size(0), n = maps.size(1);
  report::Panels panels;
  panels.title = title;
  panels.columns = static_cast<int>(std::min<int64_t>(heads, 4));
  panels.share_color = true;
  for (int64_t head = 0; head < heads; ++head) {
    const double* values = maps.const_data_ptr<double>() + head * n * n;
    report::HeatMap map;
    map.title = fmt::format("head {}", head + 1);
    map.x_label = "attended";
    map.y_label = "attending";
    map.value_label = "weight";
    map.rows = map.columns = n;
    map.values.assign(values, values + n * n);
    map.min = 0;
    if (n <= 24) map.row_labels = map.column_labels = labels;
    panels.panels.emplace_back(std::move(map));
  }
  return panels;
}

}  // namespace modewise::tasks
