#include "modewise/tasks/scenes/compare.h"

#include <fmt/format.h>

#include "modewise/tasks/scenes/config.h"

namespace modewise::tasks {
namespace {

FinishedRun read_segmenter(const std::filesystem::path& path) {
  return read_finished<SegmentConfig>(
      path, "segment", {"segment.evaluation_batch", "data.masks", "data.cache_mb", "output.pictures"},
      data_title);
}

void draw_segmenters(report::HtmlPage& page, std::span<const RunGroup> groups) {
  report::BarChart bars;
  bars.title = "IoU of each class, test areas";
  for (const nlohmann::ordered_json& one : groups.front().runs.front().metrics["test"]["classes"])
    bars.categories.push_back(one["name"]);
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

const Comparison& segment_comparison() {
  using Best = report::Column::Best;
  // Overall accuracy and intersections over unions in percent, as the papers' tables.
  static const Comparison comparison = {read_segmenter,
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
                                        "Segmenters side by side",
                                        "Agreement with the masks of the test areas",
                                        draw_segmenters};
  return comparison;
}

}  // namespace modewise::tasks
