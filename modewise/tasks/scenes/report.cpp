#include "modewise/tasks/scenes/report.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/report/html_page.h"
#include "modewise/tasks/labelled/class_tables.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/tasks/scenes/pictures.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

constexpr int64_t kLargestShown = 512;  // pixels a side
constexpr int64_t kLargestTable = 40;   // classes of a drawn confusion matrix

void add_facts(report::HtmlPage& page, const SegmentRun& run, const data::SceneSet& set) {
  add_run_facts(page, run.folder);
  page.add_fact("data",
                fmt::format("{}: {} image{}, {} band{}{}", set.source(), set.files().size(),
                            set.files().size() == 1 ? "" : "s", set.bands(), set.bands() == 1 ? "" : "s",
                            set.times() > 1 ? fmt::format(", {} dates", set.times()) : ""));
  page.add_fact("split", set.split_rule());
  page.add_fact("model", model_fact(model_title(run.config), *run.model));
  page.add_fact("window", fmt::format("{} × {} pixels", set.window(), set.window()));
  page.add_fact("seed", std::to_string(run.config.train.seed));
}

void add_agreement(report::HtmlPage& page, const Json& metrics) {
  page.add_section("Agreement with the mask");
  report::Table table(
      {{"split"}, {"pixels"}, {"accuracy %"}, {"mean IoU %"}, {"micro IoU %"}, {"mean recall %"}, {"kappa"}});
  for (const char* split : {"validation", "test"}) {
    if (!metrics.contains(split)) continue;
    const Json& one = metrics[split];
    table.add_row({split, Cell::count(one["pixels"]), percent(one, "accuracy"), percent(one, "mean_iou"),
                   percent(one, "micro_iou"), percent(one, "mean_recall"), Cell(number(one, "kappa"), 3)});
  }
  page.add_table(table,
                 "Pixels whose label is ignored are not counted. Micro IoU is accuracy / (2 − accuracy): it "
                 "says nothing "
                 "beyond the accuracy. The weights were chosen by the validation areas.");
}

data::SceneSplit judged_split(const Json& metrics) {
  return metrics.contains("test") ? data::SceneSplit::test : data::SceneSplit::validation;
}

void add_classes(report::HtmlPage& page, const Json& evaluation, const std::string& part) {
  page.add_section("Class by class");
  report::Table table({{"id"}, {"class"}, {"pixels"}, {"IoU %"}, {"precision %"}, {"recall %"}, {"F1 %"}});
  for (const Json& one : evaluation["classes"])
    table.add_row({one["id"].get<int64_t>(), one["name"].get<std::string>(), Cell::count(one["pixels"]),
                   percent(one, "iou"), percent(one, "precision"), percent(one, "recall"),
                   percent(one, "f1")});
  page.add_table(table,
                 fmt::format("The {} areas. Precision is the user's accuracy, recall the producer's.", part));
  const auto n = static_cast<int64_t>(evaluation["classes"].size());
  if (n > kLargestTable) return;
  report::HeatMap map;
  map.title = "What is called what";
  map.x_label = "called";
  map.y_label = "is";
  map.value_label = "share of the true class";
  map.rows = map.columns = n;
  map.min = 0;
  map.max = 1;
  map.show_values = n <= 20;
  for (int64_t t = 0; t < n; ++t) {
    const Json& row = evaluation["confusion"][static_cast<size_t>(t)];
    double total = 0;
    for (const Json& count : row) total += count.get<double>();
    for (const Json& count : row)
      map.values.push_back(total > 0 ? count.get<double>() / total : std::nan(""));
    map.row_labels.push_back(evaluation["classes"][static_cast<size_t>(t)]["name"]);
  }
  map.column_labels = map.row_labels;
  page.add_figure(map);
}

void add_learning(report::HtmlPage& page, const train::RunFolder& folder, const Json& metrics) {
  const auto lines = folder.read_metric_lines();
  if (lines.size() < 2) return;
  page.add_section("Learning");
  report::LineChart losses, shares;
  losses.title = "Cross entropy";
  shares.title = "Validation areas";
  losses.x.label = shares.x.label = "epoch";
  report::LineSeries training, validation, accuracy, iou;
  training.label = "training";
  validation.label = "validation";
  accuracy.label = "accuracy";
  iou.label = "mean IoU";
  training.style = report::LineSeries::Style::dashed;
  for (const Json& line : lines) {
    for (report::LineSeries* series : {&training, &validation, &accuracy, &iou})
      series->x.push_back(number(line, "epoch"));
    training.y.push_back(number(line, "train_loss"));
    validation.y.push_back(number(line, "val_loss"));
    accuracy.y.push_back(number(line, "val_accuracy"));
    iou.y.push_back(number(line, "val_mean_iou"));
    if (line.value("best", false)) shares.marks = {{number(line, "epoch"), "best"}};
  }
  losses.series = {training, validation};
  shares.series = {accuracy, iou};
  page.add_figure_grid(
      {{losses, ""}, {shares, "Chosen by " + metrics.value("criterion", std::string("validation")) + "."}});
}

void add_pictures(report::HtmlPage& page, const SegmentRun& run, const data::SceneSet& set,
                  const Json& metrics) {
  const std::vector<data::SceneArea>& areas = set.areas(judged_split(metrics));
  const auto count = std::min<int64_t>(run.config.output.pictures, std::ssize(areas));
  if (count == 0) return;
  page.add_section(metrics.contains("test") ? "Test areas" : "Validation areas");
  page.add_pictures(
      {{report::to_png(report::with_legend({8, 8, std::vector<report::Color>(64, report::kNoClass)},
                                           legend_of(set.classes()))),
        "The classes. White is not labelled, or has no data."}},
      240);
  for (int64_t i = 0; i < count; ++i) {
    const data::SceneArea& area = areas[static_cast<size_t>(i * std::ssize(areas) / count)];
    const AreaPictures pictures = area_pictures(run, set, area, kLargestShown);
    page.add_pictures(
        {{report::to_png(pictures.scene),
          fmt::format("{}, rows from {}, columns from {}", set.files()[static_cast<size_t>(area.file)].name,
                      area.area.row, area.area.column)},
         {report::to_png(pictures.truth), "mask"},
         {report::to_png(pictures.predicted), "prediction"},
         {report::to_png(pictures.wrong), "wrong pixels in red"}},
        220);
  }
}

void add_attention(report::HtmlPage& page, const SegmentRun& run, const data::SceneSet& set,
                   const Json& metrics) {
  const std::vector<data::SceneArea>& areas = set.areas(judged_split(metrics));
  if (areas.empty()) return;
  const at::NoGradGuard no_grad;
  data::SceneArea part = areas.front();
  part.area.height = part.area.width = set.window();
  const auto layers = run.model->attention(gather_windows(set, {part})).maps;
  if (layers.empty()) return;
  page.add_section("What attends to what");
  page.add_paragraph(
      "Factors S_i of one window of theirs: one small matrix a layer, mode and head. A row shows where one "
      "place "
      "of the mode "
      "looks; rows sum to 1. Attention over the whole window is the Kronecker product (or sum) of them.");
  for (size_t layer = 0; layer < layers.size(); ++layer)
    for (size_t i = 0; i < layers[layer].factors.size(); ++i) {
      const bool dates = models::dates_are_a_mode(run.config.model, run.model->shape());
      const int64_t mode = layers[layer].modes[i] + (dates ? 0 : 1);
      const at::Tensor& factor = layers[layer].factors[i];
      if (!factor.defined() || factor.size(-1) < 2 || factor.size(-1) > 128) continue;
      page.add_figure(attention_figure(factor,
                                       fmt::format("Layer {}, {}", layer + 1,
                                                   mode == 0   ? "dates"
                                                   : mode == 1 ? "rows"
                                                               : "columns"),
                                       {}));
    }
}

}  // namespace

void write_segment_report(const SegmentRun& run, const data::SceneSet& set, const fs::path& out) {
  const Json metrics = run.folder.read_metrics();
  require(metrics.contains("validation"), ErrorKind::no_input,
          "{} has not finished: there is nothing to report yet", run.folder.path().string());
  report::HtmlPage page(
      fmt::format("{} on {}", model_title(run.config), fs::path(set.source()).filename().string()),
      "Segmentation run");
  add_facts(page, run, set);
  add_agreement(page, metrics);
  add_classes(page, metrics[judged_part(metrics)], judged_part(metrics));
  add_pictures(page, run, set, metrics);
  add_learning(page, run.folder, metrics);
  add_attention(page, run, set, metrics);
  page.add_section("Settings");
  page.add_preformatted(run.folder.read_config(), "config.toml");
  page.write(out);
}

}  // namespace modewise::tasks
