// Report and explanation of classification runs.

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "modewise/tasks/classification/class_figures.h"
#include "modewise/tasks/classification/class_tables.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/classification/classification_spec.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/run/run_report.h"
#include "modewise/tasks/run/test_split.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kShownSamples = 4;

RunPage page_of(ClassificationRun& run) {
  const ClassDescription about = run.about();
  RunPage page{
      run.settings().data,
      fmt::format("Classifier of {}", about.subject),
      {{"data", fmt::format("{}: {} {}", run.set().source, run.set().labels.size(), run.samples_text())}},
      {}};
  if (!about.protocol.empty()) page.of_data.emplace_back("protocol", about.protocol);
  return page;
}

void add_metrics(report::HtmlPage& page, const ClassificationRun& run, const Json& metrics) {
  page.add_section("Evaluation");
  add_tables(page, run.tables(metrics));
  page.add_paragraph(run.choice_text());
}

/// "Test volumes by class".
std::string confusion_title(const std::string& part, const std::string& many) {
  return (part == "test" ? "Test " : "Validation ") + many + " by class";
}

std::vector<LearningChart> learning_charts(const ClassificationRun& run) {
  const std::vector<std::string> figures = run.about().figures;
  const bool auc = std::find(figures.begin(), figures.end(), "auc") != figures.end();
  return {auc ? LearningChart{"Validation AUC and accuracy", {"val_auc", "val_accuracy"}}
              : LearningChart{"Validation accuracy", {"val_accuracy"}},
          {"Losses", {"train_loss", "val_loss"}}};
}

/// Samples with the lowest scores of their true class, then those with the highest.
void add_samples(report::HtmlPage& page, const ClassificationRun& run, const metrics::ScoreTable& table,
                 const std::string& part) {
  const std::vector<int64_t> samples = run.set().split(part);
  const auto name = [&](int64_t k) { return run.set().classes[static_cast<size_t>(k)]; };
  const auto own = [&](int64_t i) { return table.labels[static_cast<size_t>(i)]; };
  std::vector<int64_t> order(static_cast<size_t>(table.samples()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return table.score(a, own(a)) < table.score(b, own(b)); });
  page.add_section("Lowest and highest scores of the true class");
  page.add_paragraph(fmt::format("View of the {} {}: {}.", part, run.set().many, run.about().view));
  for (const bool wrong : {true, false}) {
    std::vector<report::CaptionedFigure> figures;
    std::vector<report::CaptionedImage> images;
    for (int64_t i = 0; i < std::min(kShownSamples, table.samples()); ++i) {
      const int64_t row = order[static_cast<size_t>(wrong ? i : table.samples() - 1 - i)];
      SampleView view = run.sample_view(samples[static_cast<size_t>(row)]);
      std::string caption =
          fmt::format("{}: score {:.3f}; predicted {}", name(own(row)), table.score(row, own(row)),
                      name(metrics::predicted_class(table, row)));
      if (auto* figure = std::get_if<report::Figure>(&view))
        figures.push_back({std::move(*figure), std::move(caption)});
      else if (const auto* text = std::get_if<SampleText>(&view))
        page.add_paragraph(fmt::format("{}: “{}”", caption, text->text));
      else
        images.push_back({std::get<std::string>(std::move(view)), std::move(caption)});
    }
    if (!figures.empty()) page.add_figure_grid(figures, 220);
    if (!images.empty()) page.add_figures(images, 160);
  }
}

}  // namespace

report::HtmlPage ClassificationRun::page(const Json& metrics) {
  const std::string part = evaluated_part(metrics);
  report::HtmlPage page = open_page(*this, page_of(*this));
  add_metrics(page, *this, metrics);
  const metrics::ScoreTable table =
      part == "validation" && ensemble() != nullptr ? validation_scores(folder()) : score_split(*this, part);
  page.add_figure_grid({{confusion_figure(metrics.at(part), confusion_title(part, set().many)), ""},
                        {roc_figure(table, set().classes), ""}});
  add_learning(page, folder(), learning_charts(*this));
  add_samples(page, *this, table, part);
  std::vector<int64_t> shown;
  const models::AttentionView attention = attention_of(model(), spread_input(part, 1, shown));
  std::vector<NamedMode> modes;
  for (const std::string& name : about().modes) modes.push_back({name});
  add_attention(page, attention.maps, {fmt::format("the first {} {}", part, set().one), set().one}, modes);
  return page;
}

Explanation explain_classification(Run& opened, const ExplainOptions& options) {
  auto& run = as<ClassificationRun>(opened);
  const ClassDescription about = run.about();
  std::vector<int64_t> samples;
  const models::ClassifierInput input = run.spread_input(options.split, options.samples, samples);
  Explanation e;
  e.title = fmt::format("{} on {}", run.settings().model, fs::path(run.set().source).filename().string());
  e.subtitle = "Attention and occlusion of a classifier";
  e.facts = {{"run", run.folder().path().string()},
             {"samples", fmt::format("{} {}{}", samples.size(), run.set().many,
                                     run.whole() ? "" : fmt::format(" of the {} split", options.split))}};
  e.mode_names = about.modes;
  e.labels.resize(e.mode_names.size());
  for (size_t i = 0; i < std::min<size_t>(samples.size(), static_cast<size_t>(options.singles)); ++i)
    e.sample_names.push_back(run.set().one + " " + run.set().sample_name(samples[i]));
  e.attention = attention_of(run.model(), input);
  if (!e.attention.maps.empty()) e.combine = about.combine;
  e.ranks = analysis::layer_ranks(e.attention);
  e.influences = run.influences(input, output_of(run.model(), input).softmax(-1), options.places);
  e.effect_unit = "the mean absolute change of the class probabilities";
  e.removal = about.removal;
  return e;
}

}  // namespace modewise::tasks
