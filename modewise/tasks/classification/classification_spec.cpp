#include "modewise/tasks/classification/classification_spec.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "modewise/tasks/classification/class_predictions.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/run/run_figures.h"

namespace modewise::tasks {
namespace {

/// Bar charts of AUC and accuracy, then learning curves.
void draw_classifiers(report::HtmlPage& page, std::span<const RunGroup> groups) {
  std::vector<report::CaptionedFigure> figures = {
      {group_bars("AUC %", groups, "/test/auc", 100), ""},
      {group_bars("Accuracy %", groups, "/test/accuracy", 100), ""}};
  page.add_figure_grid(figures);
  figures.clear();
  for (const RunGroup& group : groups) {
    const auto [name, lines] = learning_lines(group);
    if (lines.size() < 2) continue;
    const char* evaluated = lines.front().contains("val_auc") ? "val_auc" : "val_accuracy";
    figures.push_back({curve_figure(lines, {evaluated, "train_loss"}, name), ""});
  }
  if (!figures.empty()) page.add_figure_grid(figures);
}

}  // namespace

Result predict_classification(Run& run, const PredictRequest& request) {
  auto& classifier = as<ClassificationRun>(run);
  const std::string split = request.data.empty()                             ? "test"
                            : std::filesystem::is_regular_file(request.data) ? "all"
                                                                             : classifier.about().new_split;
  DataRequest samples;
  samples.path = request.data;
  samples.split = split;
  classifier.accept_unknown_labels();
  run.load(samples);
  const data::LabelledSamples& set = classifier.set();
  ClassPredictions given = {set.csv_column,
                            set.json_key,
                            (request.data.empty() ? "the test split of " : "") + set.source,
                            {},
                            set.classes,
                            score_split(classifier, split, false)};
  for (const int64_t i : set.split(split)) given.names.push_back(set.sample_name(i));
  return give_predictions(request, given);
}

std::vector<std::string> classification_ensemble(const std::string& select) {
  return {"model.name=ensemble", "model.ensemble.runs={runs}", "model.ensemble.splits={splits}", select};
}

Comparison classification_comparison(const std::string& subject, const std::string& many) {
  using Best = report::Column::Best;
  return {{{{"AUC %", Best::highest}, "/test/auc", 1, 100},
           {{"accuracy %", Best::highest}, "/test/accuracy", 1, 100},
           {{"balanced %"}, "/test/balanced_accuracy", 1, 100},
           {{"log loss", Best::lowest}, "/test/loss", 3},
           {{"validation AUC %"}, "/validation/auc", 1, 100},
           {{"validation accuracy %"}, "/validation/accuracy", 1, 100}},
          {{"auc", "/test/auc"},
           {"accuracy", "/test/accuracy"},
           {"balanced_accuracy", "/test/balanced_accuracy"},
           {"macro_f1", "/test/macro_f1"},
           {"loss", "/test/loss"},
           {"validation_auc", "/validation/auc"},
           {"validation_accuracy", "/validation/accuracy"},
           {"validation_loss", "/validation/loss"}},
          "Comparison of classifiers of " + subject,
          "Test " + many,
          draw_classifiers,
          {"classify.evaluation_batch"}};
}

}  // namespace modewise::tasks
