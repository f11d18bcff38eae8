#pragma once
// Scenes and class maps as pictures for people.

#include <optional>
#include <string>
#include <vector>

#include "modewise/data/scenes/class_map.h"
#include "modewise/report/class_picture.h"
#include "modewise/tasks/scenes/run.h"

namespace modewise::tasks {

/// The legend of a class map.
std::vector<report::LegendClass> legend_of(const data::ClassMap& classes);

/// The bands shown as red, green and blue: of images with the bands of Sentinel-2 (12 or 13) B4, B3, B2; of
/// Landsat images (6 to 11) the third, second and first, or from 8 bands on the fourth, third and second;
/// else the first three, or the first alone.
std::vector<int64_t> shown_bands(int64_t bands);

/// A window as people see it: the shown bands of its last date with data, each stretched between its 2nd and
/// 98th percentile; grey where nothing is valid.
report::Picture scene_picture(const data::SceneWindow& window);

/// Image, mask and prediction of an area, at most `most` pixels a side (its central part when it is larger).
struct AreaPictures {
  report::Picture scene, truth, predicted, wrong;
};
AreaPictures area_pictures(const SegmentRun& run, const data::SceneSet& set, const data::SceneArea& area,
                           int64_t most);

}  // namespace modewise::tasks
