#pragma once
// Figures of images and class maps; and prediction of class maps for images of any size: a GeoTIFF with the
// image's georeference and a colour table, and a PNG with legend. Memory is bounded by a strip of the image.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/data/segmentation/class_map.h"
#include "modewise/report/class_picture.h"
#include "modewise/tasks/segmentation/run.h"

namespace modewise::tasks {

/// Legend of a class map.
std::vector<report::LegendClass> legend_of(const data::ClassMap& classes);

/// Image, mask and prediction of an area, or of its centre if it exceeds `maximum` pixels a side.
struct AreaImages {
  report::Image scene, truth, predicted, wrong;
};
AreaImages area_figures(const SegmentationRun& run, const data::SceneArea& area, int64_t maximum);

/// Segments the image at `scene` and writes `map`, a GeoTIFF of class ids (in the
/// type of ClassMap::map_numbers), or an NPY array [h, w] for the extension .npy, and next to it a PNG with
/// legend, of at most 1,600 pixels a side without the legend.
/// Returns {"scene", "map", "picture", "height", "width", "crs", "classes": [{"id", "name", "pixels",
/// "share"}], "without_data", "nodata": value without data}. Errors: no_input and data for the image;
/// cannot_create and io for the files, which are written atomically. With several train::workers() this is
/// for rank 0; other ranks call help_predict_scene.
nlohmann::ordered_json predict_scene(const SegmentationRun& run, const std::string& scene,
                                     const std::filesystem::path& map);
void help_predict_scene(const SegmentationRun& run, const std::string& scene);

}  // namespace modewise::tasks
