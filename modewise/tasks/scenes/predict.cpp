#include "modewise/tasks/scenes/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/progress.h"
#include "modewise/io/images/tiff.h"
#include "modewise/tasks/scenes/pictures.h"
#include "modewise/tasks/scenes/tiles.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kLargestPicture = 1600;

/// What the map holds for each class, and for no data.
struct MapIds {
  std::vector<uint8_t> of_class;
  uint8_t nodata = 0;
  bool own = true;
};

MapIds map_ids(const data::ClassMap& classes) {
  MapIds ids;
  const std::optional<uint8_t> nodata = classes.nodata_id();
  ids.own = nodata.has_value();
  ids.nodata = nodata.value_or(0);
  for (int64_t c = 0; c < classes.size(); ++c)
    ids.of_class.push_back(
        static_cast<uint8_t>(ids.own ? classes.classes()[static_cast<size_t>(c)].id : c + 1));
  return ids;
}

io::TiffInfo map_info(const data::RasterInfo& scene, const data::ClassMap& classes, const MapIds& ids) {
  io::TiffInfo info;
  info.width = scene.width;
  info.height = scene.height;
  info.bands = 1;
  info.dtype = "u8";
  info.nodata = ids.nodata;
  info.geo = scene.geo;
  info.tiled = true;
  info.compression = "deflate";
  info.palette.assign(256, {0, 0, 0});
  for (size_t c = 0; c < ids.of_class.size(); ++c) info.palette[ids.of_class[c]] = classes.classes()[c].color;
  return info;
}

/// Every `step`-th pixel of the map, for the picture.
class Thumbnail {
 public:
  Thumbnail(int64_t height, int64_t width)
      : step_((std::max(height, width) + kLargestPicture - 1) / kLargestPicture),
        height_((height + step_ - 1) / step_),
        width_((width + step_ - 1) / step_) {}

  void add(int64_t row, std::span<const uint8_t> numbers) {
    if (row % step_ != 0) return;
    for (size_t column = 0; column < numbers.size(); column += static_cast<size_t>(step_))
      numbers_.push_back(numbers[column]);
  }

  report::Picture picture(const std::vector<report::LegendClass>& legend) const {
    return report::with_legend(report::class_picture(width_, height_, numbers_, legend), legend);
  }

 private:
  int64_t step_, height_, width_;
  std::vector<uint8_t> numbers_;
};

}  // namespace

ClassMapFiles predict_scene(const SegmentRun& run, const std::string& scene, const fs::path& map) {
  const std::unique_ptr<data::Raster> raster = data::open_raster(scene, run.config.data.axes);
  const data::RasterInfo& info = raster->info();
  data::require_fits(run.data, info);
  const data::ClassMap& classes = run.data.classes;
  const MapIds ids = map_ids(classes);
  ClassMapFiles result;
  result.scene = scene;
  result.map = map;
  result.picture = fs::path(map).replace_extension(".png");
  result.height = info.height;
  result.width = info.width;
  result.pixels.assign(static_cast<size_t>(classes.size()), 0);
  result.nodata = ids.nodata;
  result.own_ids = ids.own;
  result.crs = info.geo ? info.geo->crs_text() : "";

  io::TiffWriter writer(map, map_info(info, classes, ids));
  Thumbnail thumbnail(info.height, info.width);
  Progress progress("predict", info.height, "rows");
  const auto take = [&](const FinishedRows& rows) {
    std::vector<int16_t> called(rows.valid.size());
    highest_classes(rows.logits, classes.size(), called);
    std::vector<uint8_t> values(called.size()), numbers(called.size());
    for (size_t i = 0; i < called.size(); ++i) {
      const bool known = rows.valid[i] != 0;
      const auto c = static_cast<size_t>(called[i]);
      values[i] = known ? ids.of_class[c] : ids.nodata;
      numbers[i] = known ? static_cast<uint8_t>(c) : 255;
      ++(known ? result.pixels[c] : result.without_data);
    }
    writer.write_rows(rows.first_row, std::span<const uint8_t>(values));
    const auto width = static_cast<size_t>(info.width);
    for (int64_t row = 0; row < rows.rows; ++row)
      thumbnail.add(rows.first_row + row,
                    std::span(numbers).subspan(static_cast<size_t>(row) * width, width));
    progress.update(rows.first_row + rows.rows);
  };
  classify_area(
      *run.model, {0, 0, info.height, info.width},
      {run.config.segment.overlap, run.config.segment.evaluation_batch},
      [&](const data::PixelRect& part) { return data::read_window(*raster, part, run.data.rule); }, take);
  progress.finish();
  writer.close();
  write_file_atomically(result.picture, report::to_png(thumbnail.picture(legend_of(classes))));
  return result;
}

nlohmann::ordered_json to_json(const ClassMapFiles& files, const data::ClassMap& classes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const auto all = static_cast<double>(files.height * files.width);
  for (size_t c = 0; c < files.pixels.size(); ++c)
    list.push_back({{"id", files.own_ids ? classes.classes()[c].id : static_cast<int64_t>(c) + 1},
                    {"name", classes.classes()[c].name},
                    {"pixels", files.pixels[c]},
                    {"share", static_cast<double>(files.pixels[c]) / all}});
  return {{"scene", files.scene},
          {"map", files.map.string()},
          {"picture", files.picture.string()},
          {"height", files.height},
          {"width", files.width},
          {"crs", files.crs},
          {"classes", list},
          {"without_data", files.without_data},
          {"nodata", files.nodata}};
}

}  // namespace modewise::tasks
