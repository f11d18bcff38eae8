#include "modewise/tasks/segmentation/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/tasks/classification/class_tables.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/run/run_report.h"
#include "modewise/tasks/run/test_split.h"
#include "modewise/tasks/segmentation/figures.h"
#include "modewise/tasks/segmentation/run.h"
#include "modewise/tasks/segmentation/spec.h"
#include "modewise/tasks/segmentation/task.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;
namespace fs = std::filesystem;

constexpr int64_t kLargestTable = 40;  // maximum classes of a confusion matrix figure

report::HeatMap confusion_figure(const Json& evaluation) {
  report::HeatMap map;
  map.title = "Confusion matrix";
  map.x_label = "called";
  map.y_label = "is";
  map.value_label = "fraction of the true class";
  map.rows = map.columns = std::ssize(evaluation.at("classes"));
  map.min = 0;
  map.max = 1;
  map.show_values = map.rows <= 20;
  for (const Json& row : evaluation.at("confusion")) {
    double total = 0;
    for (const Json& count : row) total += count.get<double>();
    for (const Json& count : row)
      map.values.push_back(total > 0 ? count.get<double>() / total : std::nan(""));
  }
  for (const Json& one : evaluation.at("classes")) map.row_labels.push_back(one.at("name"));
  map.column_labels = map.row_labels;
  return map;
}

constexpr int64_t kLargestShown = 512;  // side in pixels

void add_figures(report::HtmlPage& page, const SegmentationRun& run, const Json& metrics) {
  const data::SegmentationSet& set = *run.set;
  const std::vector<data::SceneArea>& areas = set.areas(scene_split(evaluated_part(metrics)));
  const auto count = std::min<int64_t>(run.config.output.figures, std::ssize(areas));
  if (count == 0) return;
  page.add_section(metrics.contains("test") ? "Test areas" : "Validation areas");
  page.add_figures({{report::to_png(report::with_legend(
                         {8, 8, std::vector<report::Color>(64, report::kNoClass)}, legend_of(set.classes()))),
                     "Classes. White: unlabelled or without data."}},
                   240);
  for (int64_t i = 0; i < count; ++i) {
    const data::SceneArea& area = areas[static_cast<size_t>(i * std::ssize(areas) / count)];
    const AreaImages figures = area_figures(run, area, kLargestShown);
    page.add_figures(
        {{report::to_png(figures.scene),
          fmt::format("{}, rows from {}, columns from {}", set.files()[static_cast<size_t>(area.file)].name,
                      area.area.row, area.area.column)},
         {report::to_png(figures.truth), "mask"},
         {report::to_png(figures.predicted), "prediction"},
         {report::to_png(figures.wrong), "wrong pixels in red"}},
        220);
  }
}

std::vector<models::ModeMaps> factors_of(const SegmentationRun& run, const Json& metrics) {
  const data::SegmentationSet& set = *run.set;
  const std::vector<data::SceneArea>& areas = set.areas(scene_split(evaluated_part(metrics)));
  if (areas.empty()) return {};
  data::SceneArea part = areas.front();
  part.area.height = part.area.width = set.window();
  return attention_of(*run.model, gather_windows(set, {part})).maps;
}

RunPage page_of(const data::SegmentationSet& set) {
  const auto plural = [](int64_t count) { return count == 1 ? "" : "s"; };
  return {fs::path(set.source()).filename().string(),
          "Segmentation run",
          {{"data", fmt::format("{}: {} image{}, {} band{}{}", set.source(), set.files().size(),
                                plural(std::ssize(set.files())), set.bands(), plural(set.bands()),
                                set.times() > 1 ? fmt::format(", {} dates", set.times()) : "")},
           {"split", set.split_rule()}},
          {{"window", fmt::format("{} × {} pixels", set.window(), set.window())}}};
}

void draw_segmenters(report::HtmlPage& page, std::span<const RunGroup> groups) {
  report::BarChart bars;
  bars.title = "IoU of each class, test areas";
  for (const Json& one : groups.front().runs.front().metrics.at("test").at("classes"))
    bars.categories.push_back(one.at("name"));
  for (const RunGroup& group : groups) {
    report::BarSeries series;
    series.label = group.name;
    for (size_t c = 0; c < bars.categories.size(); ++c) {
      const std::vector<double> values = group.values(fmt::format("/test/classes/{}/iou", c));
      series.values.push_back(mean(values));
      series.errors.push_back(standard_deviation(values).value_or(0));
    }
    bars.series.push_back(std::move(series));
  }
  page.add_figure(bars);
}

}  // namespace

std::vector<ResultTable> SegmentationRun::tables(const Json& metrics) const {
  const Json evaluations = evaluated_parts(metrics);
  const Json& last = evaluations.back();
  std::vector<report::Figure> drawn;
  if (std::ssize(last.at("classes")) <= kLargestTable) drawn.push_back(confusion_figure(last));
  return {{"Evaluation",
           "Ignored pixels are excluded. Micro IoU is accuracy / (2 − accuracy), so it carries the same "
           "information as the accuracy. The weights are selected on the validation areas.",
           json_table({{"split", "split"},
                       {"pixels", "pixels"},
                       {"accuracy %", "accuracy", 1, 100},
                       {"mean IoU %", "mean_iou", 1, 100},
                       {"micro IoU %", "micro_iou", 1, 100},
                       {"mean recall %", "mean_recall", 1, 100},
                       {"kappa", "kappa", 3}},
                      evaluations)},
          {"Metrics by class",
           fmt::format("The {} areas. Precision is the user's accuracy, recall the producer's.",
                       last.at("split").get<std::string>()),
           json_table({{"id", "id", 0},
                       {"class", "name"},
                       {"pixels", "pixels"},
                       {"IoU %", "iou", 1, 100},
                       {"precision %", "precision", 1, 100},
                       {"recall %", "recall", 1, 100},
                       {"F1 %", "f1", 1, 100}},
                      last.at("classes")),
           drawn},
          {"", "", confusion_table(last, "true \\ predicted"), {}, true}};
}

std::string map_text(const Json& map) {
  std::string text = fmt::format("{}: {} × {} pixels{}\n{}\n\n", map.at("map").get<std::string>(),
                                 map.at("height").get<int64_t>(), map.at("width").get<int64_t>(),
                                 map.at("crs") == "" ? "" : ", " + map.at("crs").get<std::string>(),
                                 map.at("picture").get<std::string>());
  Json rows = map.at("classes");
  if (map.at("without_data") != 0)
    rows.push_back(
        {{"id", map.at("nodata")}, {"name", "no data"}, {"pixels", map.at("without_data")}, {"share", ""}});
  return text +
         json_table({{"id", "id", 0}, {"class", "name"}, {"pixels", "pixels"}, {"share %", "share", 2, 100}},
                    rows)
             .to_text();
}

report::HtmlPage SegmentationRun::page(const Json& metrics) {
  report::HtmlPage page = open_page(*this, page_of(*set));
  add_tables(page, tables(metrics));
  add_figures(page, *this, metrics);
  add_learning(page, folder(),
               {{"Cross entropy",
                 {{"train_loss", "training", LearningCurve::Style::dashed}, {"val_loss", "validation"}},
                 ""},
                {"Validation areas",
                 {{"val_accuracy", "accuracy"}, {"val_mean_iou", "mean IoU"}},
                 "best",
                 "Selected by " + metrics.value("criterion", std::string("validation")) + "."}});
  std::vector<NamedMode> modes = {{"dates"}, {"rows"}, {"columns"}};
  if (!models::dates_are_a_mode(config.model, model->shape())) modes.erase(modes.begin());
  add_attention(page, factors_of(*this, metrics), {"one window of these areas", "window"}, modes);
  return page;
}

const Comparison& segment_comparison() {
  using Best = report::Column::Best;
  // Overall accuracy and intersection over union in percent, as in papers.
  static const Comparison comparison = {
      {{{"accuracy %", Best::highest}, "/test/accuracy", 1, 100},
       {{"mean IoU %", Best::highest}, "/test/mean_iou", 1, 100},
       {{"micro IoU %"}, "/test/micro_iou", 1, 100},
       {{"mean recall %", Best::highest}, "/test/mean_recall", 1, 100},
       {{"validation accuracy %"}, "/validation/accuracy", 1, 100},
       {{"validation mean IoU %"}, "/validation/mean_iou", 1, 100}},
      {{"accuracy", "/test/accuracy"},
       {"mean_iou", "/test/mean_iou"},
       {"micro_iou", "/test/micro_iou"},
       {"mean_recall", "/test/mean_recall"},
       {"kappa", "/test/kappa"},
       {"validation_accuracy", "/validation/accuracy"},
       {"validation_mean_iou", "/validation/mean_iou"}},
      "Comparison of segmenters",
      "Evaluation on the test areas",
      draw_segmenters,
      {"segment.evaluation_batch", "data.masks", "data.cache_mb", "output.figures"}};
  return comparison;
}

}  // namespace modewise::tasks
