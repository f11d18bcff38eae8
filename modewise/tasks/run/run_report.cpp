#include "modewise/tasks/run/run_report.h"

#include <fmt/format.h>

namespace modewise::tasks {

report::HtmlPage open_page(Run& run, const RunPage& page) {
  const RunSettings settings = run.settings();
  report::HtmlPage out(fmt::format("{} on {}", settings.model, page.data), page.subtitle);
  add_run_facts(out, run.folder());
  for (const auto& [name, value] : page.of_data) out.add_fact(name, value);
  out.add_fact("model", model_fact(settings.model, run.module()));
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
      "(positions of the {}); rows sum to 1. Attention over the whole {} is their Kronecker product (or "
      "sum).",
      subject.sample, subject.mode, subject.mode, subject.whole));
  for (size_t layer = 0; layer < layers.size(); ++layer)
    for (size_t i = 0; i < layers[layer].factors.size(); ++i) {
      const at::Tensor& factor = layers[layer].factors[i];
      if (!factor.defined() || factor.size(-1) < 2) continue;
      const NamedMode& mode = modes.at(static_cast<size_t>(layers[layer].modes[i]));
      const std::string title = fmt::format("Layer {}, {}", layer + 1, mode.name);
      if (factor.size(-1) > kLargestFactor)
        page.add_paragraph(fmt::format("{}: {} positions, too many to draw.", title, factor.size(-1)));
      else
        page.add_figure(attention_figure(factor, title, mode.labels));
    }
}

}  // namespace modewise::tasks
