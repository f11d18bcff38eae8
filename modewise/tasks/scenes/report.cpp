#include "modewise/tasks/scenes/report.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "modewise/tasks/labelled/class_tables.h"
#include "modewise/tasks/run_report.h"
#include "modewise/tasks/scenes/pictures.h"
#include "modewise/tasks/test_part.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::Cell;

constexpr int64_t kLargestShown = 512;  // pixels a side
constexpr int64_t kLargestTable = 40;   // classes of a drawn confusion matrix

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

std::vector<models::ModeMaps> factors_of(const SegmentRun& run, const data::SceneSet& set,
                                         const Json& metrics) {
  const std::vector<data::SceneArea>& areas = set.areas(judged_split(metrics));
  if (areas.empty()) return {};
  const at::NoGradGuard no_grad;
  data::SceneArea part = areas.front();
  part.area.height = part.area.width = set.window();
  return run.model->attention(gather_windows(set, {part})).maps;
}

RunPage page_of(const data::SceneSet& set) {
  const auto plural = [](int64_t count) { return count == 1 ? "" : "s"; };
  return {fs::path(set.source()).filename().string(),
          "Segmentation run",
          {{"data", fmt::format("{}: {} image{}, {} band{}{}", set.source(), set.files().size(),
                                plural(std::ssize(set.files())), set.bands(), plural(set.bands()),
                                set.times() > 1 ? fmt::format(", {} dates", set.times()) : "")},
           {"split", set.split_rule()}},
          {{"window", fmt::format("{} × {} pixels", set.window(), set.window())}}};
}

}  // namespace

void write_segment_report(const SegmentRun& run, const data::SceneSet& set, const fs::path& out) {
  const Json metrics = judged_metrics(run.folder);
  report::HtmlPage page = open_page(run, page_of(set));
  add_agreement(page, metrics);
  add_classes(page, metrics[judged_part(metrics)], judged_part(metrics));
  add_pictures(page, run, set, metrics);
  add_learning(page, run.folder,
               {{"Cross entropy",
                 {{"train_loss", "training", LearningCurve::Style::dashed}, {"val_loss", "validation"}},
                 ""},
                {"Validation areas",
                 {{"val_accuracy", "accuracy"}, {"val_mean_iou", "mean IoU"}},
                 "best",
                 "Chosen by " + metrics.value("criterion", std::string("validation")) + "."}});
  std::vector<NamedMode> modes = {{"dates"}, {"rows"}, {"columns"}};
  if (!models::dates_are_a_mode(run.config.model, run.model->shape())) modes.erase(modes.begin());
  add_attention(page, factors_of(run, set, metrics), {"one window of theirs", "window"}, modes);
  write_page(page, run.folder, out);
}

}  // namespace modewise::tasks
