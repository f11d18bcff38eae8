#include "modewise/tasks/scenes/pictures.h"

#include <algorithm>
#include <cmath>

#include "modewise/tasks/scenes/tiles.h"

namespace modewise::tasks {
namespace {

constexpr report::Color kNothingSeen = {200, 200, 200}, kRightColor = {225, 230, 235},
                        kWrongColor = {200, 40, 40};

uint8_t number_of(int16_t label) {
  return label < 0 ? 255 : static_cast<uint8_t>(label);
}

/// Values at the 2nd and 98th percentile.
std::pair<float, float> stretch(std::vector<float> values) {
  if (values.empty()) return {0, 1};
  const auto at = [&](double share) {
    const auto place = values.begin() + static_cast<int64_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), place, values.end());
    return *place;
  };
  const float low = at(0.02), high = at(0.98);
  return {low, high > low ? high : low + 1};
}

}  // namespace

std::vector<report::LegendClass> legend_of(const data::ClassMap& classes) {
  std::vector<report::LegendClass> legend;
  for (const data::SceneClass& one : classes.classes())
    legend.push_back({one.name, {one.color[0], one.color[1], one.color[2]}});
  return legend;
}

std::vector<int64_t> shown_bands(int64_t bands) {
  if (bands == 12 || bands == 13 || bands >= 8) return {3, 2, 1};
  if (bands >= 6) return {2, 1, 0};
  if (bands >= 3) return {0, 1, 2};
  return {0, 0, 0};
}

report::Picture scene_picture(const data::SceneWindow& window) {
  const int64_t pixels = window.height * window.width;
  int64_t date = window.times - 1;
  const auto seen = [&](int64_t t) {
    return std::count(window.valid.begin() + t * pixels, window.valid.begin() + (t + 1) * pixels, 1);
  };
  while (date > 0 && seen(date) == 0) --date;
  const auto value = [&](int64_t pixel, int64_t band) {
    return window.image[static_cast<size_t>((date * pixels + pixel) * window.bands + band)];
  };
  const auto valid = [&](int64_t pixel) {
    return window.valid[static_cast<size_t>(date * pixels + pixel)] != 0;
  };
  const std::vector<int64_t> shown = shown_bands(window.bands);
  std::vector<std::pair<float, float>> ranges;
  for (const int64_t band : shown) {
    std::vector<float> values;
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      if (valid(pixel)) values.push_back(value(pixel, band));
    ranges.push_back(stretch(std::move(values)));
  }
  report::Picture picture{window.width, window.height,
                          std::vector<report::Color>(static_cast<size_t>(pixels), kNothingSeen)};
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    if (!valid(pixel)) continue;
    uint8_t channels[3];
    for (size_t i = 0; i < 3; ++i) {
      const float share = (value(pixel, shown[i]) - ranges[i].first) / (ranges[i].second - ranges[i].first);
      channels[i] = static_cast<uint8_t>(std::lround(255 * std::clamp(share, 0.0F, 1.0F)));
    }
    picture.pixels[static_cast<size_t>(pixel)] = {channels[0], channels[1], channels[2]};
  }
  return picture;
}

AreaPictures area_pictures(const SegmentRun& run, const data::SceneSet& set, const data::SceneArea& area,
                           int64_t most) {
  data::SceneArea part = area;
  part.area.height = std::min(most, area.area.height);
  part.area.width = std::min(most, area.area.width);
  part.area.row += (area.area.height - part.area.height) / 2;
  part.area.column += (area.area.width - part.area.width) / 2;
  const data::SceneWindow window = set.read(part);
  const int64_t classes = set.classes().size();
  std::vector<uint8_t> truth, predicted;
  std::vector<report::Color> wrong;
  const auto take = [&](const FinishedRows& rows) {
    std::vector<int16_t> called(rows.valid.size());
    highest_classes(rows.logits, classes, called);
    for (size_t i = 0; i < called.size(); ++i) {
      const int16_t label = window.labels[static_cast<size_t>(rows.first_row * part.area.width) + i];
      truth.push_back(number_of(label));
      predicted.push_back(rows.valid[i] != 0 ? number_of(called[i]) : 255);
      wrong.push_back(label < 0 || rows.valid[i] == 0 ? report::kNoClass
                      : label == called[i]            ? kRightColor
                                                      : kWrongColor);
    }
  };
  classify_area(
      *run.model, part.area, {run.config.segment.overlap, run.config.segment.evaluation_batch},
      [&](const data::PixelRect& rect) {
        return set.read_image({part.file, rect});
      },
      take);
  const std::vector<report::LegendClass> legend = legend_of(set.classes());
  const int64_t width = part.area.width, height = part.area.height;
  return {scene_picture(window),
          report::class_picture(width, height, truth, legend),
          report::class_picture(width, height, predicted, legend),
          {width, height, std::move(wrong)}};
}

}  // namespace modewise::tasks
