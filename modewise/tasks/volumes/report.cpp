#include "modewise/tasks/volumes/report.h"

#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/report/html_page.h"
#include "modewise/tasks/labelled/class_figures.h"
#include "modewise/tasks/labelled/class_tables.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/test_part.h"
#include "modewise/tasks/volumes/scores.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

constexpr int64_t kShownSamples = 4;

void add_facts(report::HtmlPage& page, const ClassifyRun& run, const data::VolumeSet& set) {
  add_run_facts(page, run.folder);
  page.add_fact("data", fmt::format("{}: {} volumes of {} voxels", set.source, set.count(),
                                    fmt::join(set.size(), " × ")));
  page.add_fact("model", model_fact(model_title(run.config), *run.model));
  page.add_fact("seed", std::to_string(run.config.train.seed));
}

void add_metrics(report::HtmlPage& page, const Json& metrics) {
  page.add_section("How good it is");
  report::Table table(
      {{"split"}, {"volumes"}, {"AUC %"}, {"accuracy %"}, {"balanced accuracy %"}, {"log loss"}});
  for (const char* split : {"validation", "test"}) {
    if (!metrics.contains(split)) continue;
    const Json& one = metrics[split];
    table.add_row({split, one["samples"].get<int64_t>(), percent(one, "auc"), percent(one, "accuracy"),
                   percent(one, "balanced_accuracy"), Cell(number(one, "loss"), 3)});
  }
  page.add_table(
      table,
      "AUC and accuracy as MedMNIST's evaluator has them. The weights are those of the best validation "
      "metric; the test volumes chose nothing.");
  const std::string part = judged_part(metrics);
  report::Table classes(
      {{"class"}, {part + " volumes"}, {"AUC % against the rest"}, {"recall %"}, {"precision %"}});
  for (const Json& one : metrics[part]["classes"])
    classes.add_row({one["name"].get<std::string>(), one["samples"].get<int64_t>(), percent(one, "auc"),
                     percent(one, "recall"), percent(one, "precision")});
  page.add_table(classes);
}

/// The middle slice across the first axis that is not empty, else the middle one.
report::HeatMap slice_figure(const data::VolumeBatch& batch, int64_t sample, const std::string& title) {
  at::Tensor volume = batch.values.select(0, sample).select(-1, 0);
  while (volume.dim() > 2) {
    const std::vector<int64_t> rest = [&] {
      std::vector<int64_t> axes;
      for (int64_t axis = 1; axis < volume.dim(); ++axis) axes.push_back(axis);
      return axes;
    }();
    volume = volume.select(0, volume.abs().sum(rest).argmax().item<int64_t>());
  }
  volume = volume.to(at::kDouble).contiguous();
  report::HeatMap map;
  map.title = title;
  map.rows = volume.size(0);
  map.columns = volume.size(1);
  const double* values = volume.const_data_ptr<double>();
  map.values.assign(values, values + volume.numel());
  map.color_bar = false;
  return map;
}

void add_samples(report::HtmlPage& page, const ClassifyRun& run, const data::VolumeSet& set,
                 const ScoreTable& table, const std::string& part) {
  const std::vector<int64_t> samples = set.split(part);
  std::vector<int64_t> order(static_cast<size_t>(table.samples()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  const auto true_score = [&](int64_t i) { return table.score(i, table.labels[static_cast<size_t>(i)]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return true_score(a) < true_score(b); });
  page.add_section("Most wrong and most right");
  page.add_paragraph(
      fmt::format("Of each {} volume the slice along the first axis that holds the most.", part));
  const auto add = [&](bool wrong) {
    std::vector<report::CaptionedFigure> figures;
    for (int64_t i = 0; i < std::min(kShownSamples, table.samples()); ++i) {
      const int64_t row = order[static_cast<size_t>(wrong ? i : table.samples() - 1 - i)];
      const int64_t sample = samples[static_cast<size_t>(row)];
      const data::VolumeBatch batch = data::gather_volumes(set, std::span(&sample, 1));
      figures.push_back(
          {slice_figure(batch, 0, fmt::format("{} volume {}", part, set.names[static_cast<size_t>(sample)])),
           fmt::format("{}: score {:.3f}",
                       run.classes[static_cast<size_t>(table.labels[static_cast<size_t>(row)])],
                       true_score(row))});
    }
    page.add_figure_grid(figures, 220);
  };
  add(true);
  add(false);
}

void add_attention(report::HtmlPage& page, const ClassifyRun& run, const data::VolumeSet& set,
                   const std::string& part) {
  const at::NoGradGuard no_grad;
  const int64_t first = set.split(part).front();
  data::VolumeBatch batch = data::gather_volumes(set, std::span(&first, 1), run.model->shape().size);
  data::transform_for_evaluation(batch, run.config.augment);
  const auto layers = run.model->attention_maps(model_input(batch));
  if (layers.empty()) return;
  page.add_section("What attends to what");
  page.add_paragraph(fmt::format(
      "Factors S_i of the first {} volume: one small matrix a layer, axis and head. A row shows where one "
      "position along the axis looks; rows sum to 1. Attention over the whole volume is the Kronecker "
      "product (or sum) of them.",
      part));
  for (size_t layer = 0; layer < layers.size(); ++layer)
    for (size_t i = 0; i < layers[layer].factors.size(); ++i) {
      const at::Tensor& factor = layers[layer].factors[i];
      if (!factor.defined() || factor.size(-1) < 2 || factor.size(-1) > kLargestFactor) continue;
      page.add_figure(
          attention_figure(factor, fmt::format("Layer {}, axis {}", layer + 1, layers[layer].modes[i]), {}));
    }
}

}  // namespace

void write_classify_report(const ClassifyRun& run, const data::VolumeSet& set, const fs::path& out) {
  const Json metrics = run.folder.read_metrics();
  require_judged(metrics, run.folder);
  const std::string part = judged_part(metrics);
  report::HtmlPage page(
      fmt::format("{} on {}", model_title(run.config), fs::path(set.source).filename().string()),
      "Classification run");
  add_facts(page, run, set);
  add_metrics(page, metrics);
  const ScoreTable table = score_split(run, set, part);
  page.add_figure_grid({{confusion_figure(metrics[part], part == "test" ? "Test volumes by class"
                                                                        : "Validation volumes by class"),
                         ""},
                        {roc_figure(table, run.classes), ""}});
  const auto lines = run.folder.read_metric_lines();
  if (lines.size() > 1) {
    page.add_section("Learning");
    page.add_figure_grid(
        {{curve_figure(lines, {"val_auc", "val_accuracy"}, "Validation AUC and accuracy"), ""},
         {curve_figure(lines, {"train_loss", "val_loss"}, "Losses"), ""}});
  }
  add_samples(page, run, set, table, part);
  add_attention(page, run, set, part);
  page.add_section("Settings");
  page.add_preformatted(run.folder.read_config(), "config.toml");
  page.write(out);
}

}  // namespace modewise::tasks
