#pragma once
// Scenes and class maps as pictures for people; and the class map of a scene of any size: a GeoTIFF with the
// scene's georeference and a colour table, and a picture with legend. Memory is bounded by a strip of the
// scene.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/data/segmentation/class_map.h"
#include "modewise/report/class_picture.h"
#include "modewise/tasks/segmentation/run.h"

namespace modewise::tasks {

/// The legend of a class map.
std::vector<report::LegendClass> legend_of(const data::ClassMap& classes);

/// Image, mask and prediction of an area, at most `most` pixels a side (its central part when it is larger).
struct AreaImages {
  report::Image scene, truth, predicted, wrong;
};
AreaImages area_figures(const SegmentationRun& run, const data::SegmentationSet& set, const data::SceneArea& area,
                           int64_t maximum);

/// Classifies the image (GeoTIFF or NPY) at `scene` and writes `map`, a GeoTIFF of class ids (u8), or an NPY
/// array [h, w] where its name ends so, and beside it a PNG with legend, of at most 1,600 pixels a side
/// before the legend. Where ids do not fit into 0 … 255 the map holds places in the list of classes, from 1.
/// Returns {"scene", "map", "picture", "height", "width", "crs", "classes": [{"id", "name", "pixels",
/// "share"}], "without_data", "nodata": what the map holds there}. Errors: no_input and data for the scene;
/// cannot_create and io for the files, which appear whole or not at all. Several train::workers() classify in
/// shares: this is the lead's, the others call help_predict_scene.
nlohmann::ordered_json predict_scene(const SegmentationRun& run, const std::string& scene,
                                     const std::filesystem::path& map);
void help_predict_scene(const SegmentationRun& run, const std::string& scene);

}  // namespace modewise::tasks
