#include "modewise/tasks/run/run_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace modewise::tasks {
namespace {

/// Stable ranks of `--track stable_rank`: solid for validation samples, dashed for training samples.
void add_rank_chart(std::vector<report::CaptionedFigure>& figures,
                    const std::vector<nlohmann::ordered_json>& lines) {
  const std::string prefix = "rank_", training = "train_";
  std::vector<LearningCurve> curves;
  for (const auto& [key, value] : lines.back().items()) {
    if (!key.starts_with(prefix)) continue;
    std::string label = key.substr(prefix.size());
    const bool of_training = label.starts_with(training);
    if (of_training) label = label.substr(training.size()) + ", training";
    if (label.starts_with("mode")) label.insert(4, " ");
    curves.emplace_back(key.c_str(), label.c_str(),
                        of_training ? LearningCurve::Style::dashed : LearningCurve::Style::line);
  }
  if (curves.empty()) return;
  figures.push_back(
      {curve_figure(lines, curves, "Stable rank of the attention matrices"),
       "Means over layers, heads and 8 samples of the validation and of the training split; the "
       "product and the sum are those of the modes' matrices."});
}

}  // namespace

report::HtmlPage open_page(Run& run, const RunPage& page) {
  const RunSettings settings = run.settings();
  report::HtmlPage out(fmt::format("{} on {}", settings.model, page.data), page.subtitle);
  add_run_facts(out, run.folder());
  for (const auto& [name, value] : page.of_data) out.add_fact(name, value);
  out.add_fact("model", fmt::format("{}, {} parameters", settings.model,
                                    report::Cell::count(run.cost().parameters()).text()));
  for (const auto& [name, value] : page.of_model) out.add_fact(name, value);
  out.add_fact("seed", std::to_string(settings.train.seed));
  return out;
}

void add_learning(report::HtmlPage& page, const train::RunFolder& folder,
                  const std::vector<LearningChart>& charts) {
  const auto lines = folder.read_metric_lines();
  if (lines.size() < 2) return;
  page.add_section("Learning curves");
  std::vector<report::CaptionedFigure> figures;
  for (const LearningChart& chart : charts)
    figures.push_back({curve_figure(lines, chart.curves, chart.title, chart.best), chart.caption});
  add_rank_chart(figures, lines);
  if (figures.size() == 1)
    page.add_figure(figures.front().figure, figures.front().caption);
  else
    page.add_figure_grid(figures);
}

void add_attention(report::HtmlPage& page, const std::vector<models::ModeMaps>& layers,
                   const AttentionSubject& subject, const std::vector<NamedMode>& modes) {
  if (layers.empty()) return;
  page.add_section("Attention maps");
  page.add_paragraph(fmt::format(
      "Attention factors S_i of {}: one matrix per layer, {} and head. Rows are queries, columns are keys "
      "(positions of the {}){}. Attention over the whole {} is their Kronecker product (or "
      "sum).",
      subject.sample, subject.mode, subject.mode,
      std::ranges::all_of(layers,
                          [](const models::ModeMaps& layer) { return rows_sum_to_one(layer.factors); })
          ? "; rows sum to 1"
          : "",
      subject.whole));
  for (size_t layer = 0; layer < layers.size(); ++layer)
    for (size_t i = 0; i < layers[layer].factors.size(); ++i) {
      const at::Tensor& factor = layers[layer].factors[i];
      if (!factor.defined() || factor.size(-1) < 2) continue;
      const NamedMode& mode = modes.at(static_cast<size_t>(layers[layer].modes[i]));
      const std::string title = fmt::format("Layer {}, {}", layer + 1, mode.name);
      page.add_figure(attention_figure(factor, title, mode.labels));
    }
}

}  // namespace modewise::tasks
