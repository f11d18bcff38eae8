#pragma once
// The class map of a scene of any size: a GeoTIFF with the scene's georeference and a colour table, and a
// picture with legend. Memory is bounded by a strip of the scene.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "modewise/tasks/scenes/run.h"

namespace modewise::tasks {

struct ClassMapFiles {
  std::string scene;              // what was classified
  std::filesystem::path map;      // GeoTIFF of class ids, u8
  std::filesystem::path picture;  // PNG with legend, at most 1,600 pixels a side before the legend
  int64_t height = 0, width = 0;
  std::vector<int64_t> pixels;  // of each class
  int64_t without_data = 0;
  int64_t nodata = 0;  // what the map holds there
  std::string crs;
  bool own_ids = true;  // false: ids do not fit into 0 … 255, the map holds places in the list, from 1
};

/// Classifies the image (GeoTIFF or NPY) at `scene` and writes `map` and, beside it, the same name with
/// ".png". Errors: no_input and data for the scene; cannot_create and io for the files, which appear whole or
/// not at all.
ClassMapFiles predict_scene(const SegmentRun& run, const std::string& scene,
                            const std::filesystem::path& map);

/// classes (id, name, pixels, share), files, size and coordinate reference system.
nlohmann::ordered_json to_json(const ClassMapFiles& files, const data::ClassMap& classes);

}  // namespace modewise::tasks
