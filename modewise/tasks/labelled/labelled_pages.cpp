#include "modewise/tasks/labelled/labelled_pages.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "modewise/report/html_page.h"
#include "modewise/tasks/labelled/class_figures.h"
#include "modewise/tasks/labelled/class_tables.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kShownSamples = 4;

void add_facts(report::HtmlPage& page, const OpenedRun& opened) {
  const LabelledRun& run = *opened.run;
  add_run_facts(page, opened.folder);
  page.add_fact("data",
                fmt::format("{}: {} {}", run.set().source, run.set().labels.size(), run.samples_text()));
  if (!run.protocol().empty()) page.add_fact("protocol", run.protocol());
  page.add_fact("model", model_fact(run.model_name(), run.model()));
  page.add_fact("seed", std::to_string(run.training().seed));
}

void add_metrics(report::HtmlPage& page, const LabelledRun& run, const Json& metrics) {
  page.add_section("How good it is");
  std::vector<Json> evaluations;
  for (const char* split : {"validation", "test"})
    if (metrics.contains(split)) evaluations.push_back(metrics[split]);
  page.add_table(score_table(evaluations, run.set().many),
                 "AUC and accuracy as MedMNIST's evaluator has them. " + run.choice_text());
  page.add_table(class_table(evaluations.back(), run.set().many),
                 fmt::format("The {} {}.", judged_part(metrics), run.set().many));
}

/// "Test volumes by class".
std::string confusion_title(const std::string& part, const std::string& many) {
  return (part == "test" ? "Test " : "Validation ") + many + " by class";
}

void add_learning(report::HtmlPage& page, const OpenedRun& opened) {
  const auto lines = opened.folder.read_metric_lines();
  if (lines.size() < 2) return;
  page.add_section("Learning");
  const std::vector<std::string> figures = opened.run->figures();
  const bool auc = std::find(figures.begin(), figures.end(), "auc") != figures.end();
  page.add_figure_grid({{auc ? curve_figure(lines, {"val_auc", "val_accuracy"}, "Validation AUC and accuracy")
                             : curve_figure(lines, {"val_accuracy"}, "Validation accuracy"),
                         ""},
                        {curve_figure(lines, {"train_loss", "val_loss"}, "Losses"), ""}});
}

/// The samples with the lowest scores of their own class, then those with the highest.
void add_samples(report::HtmlPage& page, const LabelledRun& run, const ScoreTable& table,
                 const std::string& part) {
  const std::vector<int64_t> samples = run.set().split(part);
  const auto name = [&](int64_t k) { return run.set().classes[static_cast<size_t>(k)]; };
  const auto own = [&](int64_t i) { return table.labels[static_cast<size_t>(i)]; };
  std::vector<int64_t> order(static_cast<size_t>(table.samples()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return table.score(a, own(a)) < table.score(b, own(b));
  });
  page.add_section("Most wrong and most right");
  page.add_paragraph(fmt::format("Of the {} {}: {}.", part, run.set().many, run.figure_text()));
  for (const bool wrong : {true, false}) {
    std::vector<report::CaptionedFigure> figures;
    for (int64_t i = 0; i < std::min(kShownSamples, table.samples()); ++i) {
      const int64_t row = order[static_cast<size_t>(wrong ? i : table.samples() - 1 - i)];
      figures.push_back({run.sample_figure(samples[static_cast<size_t>(row)]),
                         fmt::format("{}: score {:.3f}; taken for {}", name(own(row)),
                                     table.score(row, own(row)), name(predicted_class(table, row)))});
    }
    page.add_figure_grid(figures, 220);
  }
}

void add_attention(report::HtmlPage& page, const LabelledRun& run, const std::string& part) {
  std::vector<int64_t> samples;
  const models::AttentionView view = run.model().attention(run.spread_input(part, 1, samples));
  if (view.maps.empty()) return;
  const std::vector<std::string> modes = run.mode_names();
  page.add_section("What attends to what");
  page.add_paragraph(
      fmt::format("Factors S_i of {} of the {} part: one small matrix a layer, mode and head. A row shows "
                  "where one place of the mode looks; rows sum to 1. Attention over the whole is the "
                  "Kronecker product (or sum) of them.",
                  run.set().called(samples.front()), part));
  for (size_t layer = 0; layer < view.maps.size(); ++layer)
    for (size_t i = 0; i < view.maps[layer].factors.size(); ++i) {
      const at::Tensor& factor = view.maps[layer].factors[i];
      if (!factor.defined() || factor.size(-1) < 2 || factor.size(-1) > kLargestFactor) continue;
      const auto mode = static_cast<size_t>(view.maps[layer].modes[i]);
      page.add_figure(attention_figure(factor, fmt::format("Layer {}, {}", layer + 1, modes[mode]), {}));
    }
}

}  // namespace

void write_labelled_report(const OpenedRun& opened, const fs::path& out) {
  const at::NoGradGuard no_grad;
  const LabelledRun& run = *opened.run;
  const Json metrics = opened.folder.read_metrics();
  require_judged(metrics, opened.folder);
  const std::string part = judged_part(metrics);
  report::HtmlPage page(fmt::format("{} on {}", run.model_name(), run.data_name()),
                        fmt::format("Run that classifies {}", run.subject()));
  add_facts(page, opened);
  add_metrics(page, run, metrics);
  const ScoreTable table = score_split(run, part);
  page.add_figure_grid({{confusion_figure(metrics[part], confusion_title(part, run.set().many)), ""},
                        {roc_figure(table, run.set().classes), ""}});
  add_learning(page, opened);
  add_samples(page, run, table, part);
  add_attention(page, run, part);
  page.add_section("Settings");
  page.add_preformatted(opened.folder.read_config(), "config.toml");
  page.write(out);
}

Explanation explain_labelled(const OpenedRun& opened, const ExplainOptions& options) {
  const at::NoGradGuard no_grad;
  const LabelledRun& run = *opened.run;
  std::vector<int64_t> samples;
  const models::ClassifierInput input = run.spread_input(options.split, options.samples, samples);
  Explanation e;
  e.title = fmt::format("{} on {}", run.model_name(), fs::path(run.set().source).filename().string());
  e.subtitle = "What the classifier attends to";
  e.facts = {
      {"run", opened.folder.path().string()},
      {"samples", fmt::format("{} {} of the {} split", samples.size(), run.set().many, options.split)}};
  e.mode_names = run.mode_names();
  e.labels.resize(e.mode_names.size());
  for (size_t i = 0; i < std::min<size_t>(samples.size(), static_cast<size_t>(options.singles)); ++i)
    e.sample_names.push_back(run.set().one + " " + run.set().names[static_cast<size_t>(samples[i])]);
  e.attention = run.model().attention(input);
  if (!e.attention.maps.empty()) e.combine = run.combine();
  e.ranks = analysis::layer_ranks(e.attention);
  e.influences = run.influences(input, run.model().forward(input).softmax(-1), options.places);
  e.effect_unit = "the mean absolute change of the classes' probabilities";
  e.removal = run.removal_text();
  return e;
}

}  // namespace modewise::tasks
