#include "modewise/tasks/segmentation/figures.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/core/progress.h"
#include "modewise/io/arrays/npy_header.h"
#include "modewise/io/images/tiff.h"
#include "modewise/tasks/segmentation/tiles.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

constexpr report::Color kNothingSeen = {200, 200, 200}, kRightColor = {225, 230, 235},
                        kWrongColor = {200, 40, 40};

uint8_t number_of(int16_t label) {
  return label < 0 ? 255 : static_cast<uint8_t>(label);
}

/// 2nd and 98th percentile.
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

constexpr int64_t kLargestImage = 1600;

/// Calls use(T()) with the type of a dtype of ClassMap::map_numbers.
template <class Use>
auto with_map_type(const std::string& dtype, const Use& use) {
  if (dtype == "u8") return use(uint8_t());
  if (dtype == "u16") return use(uint16_t());
  if (dtype == "i16") return use(int16_t());
  return use(int32_t());
}

io::TiffInfo map_info(const data::RasterInfo& scene, const data::ClassMap& classes) {
  const data::MapNumbers numbers = classes.map_numbers();
  io::TiffInfo info;
  info.width = scene.width;
  info.height = scene.height;
  info.bands = 1;
  info.dtype = numbers.dtype;
  info.nodata = numbers.nodata;
  info.geo = scene.geo;
  info.tiled = true;
  info.compression = "deflate";
  if (info.dtype != "u8") return info;
  info.palette.assign(256, {0, 0, 0});
  for (const data::SceneClass& one : classes.classes()) info.palette[static_cast<size_t>(one.id)] = one.color;
  return info;
}

/// Writer of a class map from top to bottom: GeoTIFF, or NPY [h, w] for the extension .npy.
class MapFile {
 public:
  MapFile(const fs::path& path, const io::TiffInfo& info) : dtype_(info.dtype) {
    if (lower_extension(path) != ".npy") {
      tiff_.emplace(path, info);
      return;
    }
    npy_.emplace(path);
    const auto dtype = dtype_ == "u8"    ? io::Array::u8
                       : dtype_ == "u16" ? io::Array::u16
                       : dtype_ == "i16" ? io::Array::i16
                                         : io::Array::i32;
    const std::string header = io::format_npy_header({dtype, {info.height, info.width}, {}});
    npy_->write(std::as_bytes(std::span(header)));
  }

  void write_rows(int64_t first, std::span<const int32_t> values) {
    with_map_type(dtype_, [&]<class T>(T) {
      std::vector<T> row(values.size());
      std::ranges::transform(values, row.begin(), [](int32_t value) { return static_cast<T>(value); });
      if (tiff_)
        tiff_->write_rows(first, std::span<const T>(row));
      else
        npy_->write(std::as_bytes(std::span(row)));
    });
  }

  void close() {
    if (tiff_)
      tiff_->close();
    else
      npy_->finish();
  }

 private:
  std::string dtype_;
  std::optional<io::TiffWriter> tiff_;
  std::optional<OutputFile> npy_;
};

/// Every `step`-th pixel of the map, for the PNG.
class Thumbnail {
 public:
  Thumbnail(int64_t height, int64_t width)
      : step_((std::max(height, width) + kLargestImage - 1) / kLargestImage),
        height_((height + step_ - 1) / step_),
        width_((width + step_ - 1) / step_) {}

  void add(int64_t row, std::span<const uint8_t> numbers) {
    if (row % step_ != 0) return;
    for (size_t column = 0; column < numbers.size(); column += static_cast<size_t>(step_))
      numbers_.push_back(numbers[column]);
  }

  report::Image figure(const std::vector<report::LegendClass>& legend) const {
    return report::with_legend(report::class_figure(width_, height_, numbers_, legend), legend);
  }

 private:
  int64_t step_, height_, width_;
  std::vector<uint8_t> numbers_;
};

/// Bands shown as red, green and blue: B4, B3, B2 for Sentinel-2 (12 or 13 bands); the third, second and
/// first for Landsat (6 to 11 bands), or the fourth, third and second from 8 bands on; else the first three,
/// or only the first.
std::vector<int64_t> shown_bands(int64_t bands) {
  if (bands == 12 || bands == 13 || bands >= 8) return {3, 2, 1};
  if (bands >= 6) return {2, 1, 0};
  if (bands >= 3) return {0, 1, 2};
  return {0, 0, 0};
}

/// Image of a window: the shown bands of its last date with data, each stretched between its 2nd and 98th
/// percentile; grey where no pixel is valid.
report::Image scene_figure(const data::SceneWindow& window) {
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
  report::Image figure{window.width, window.height,
                       std::vector<report::Color>(static_cast<size_t>(pixels), kNothingSeen)};
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    if (!valid(pixel)) continue;
    uint8_t channels[3];
    for (size_t i = 0; i < 3; ++i) {
      const float share = (value(pixel, shown[i]) - ranges[i].first) / (ranges[i].second - ranges[i].first);
      channels[i] = static_cast<uint8_t>(std::lround(255 * std::clamp(share, 0.0F, 1.0F)));
    }
    figure.pixels[static_cast<size_t>(pixel)] = {channels[0], channels[1], channels[2]};
  }
  return figure;
}

std::unique_ptr<data::Raster> open_scene(const SegmentationRun& run, const std::string& scene) {
  std::unique_ptr<data::Raster> raster = data::open_raster(scene, run.config.data.axes);
  data::require_fits(run.summary, raster->info());
  if (const std::string warning = data::unread_pages(raster->info()); !warning.empty())
    spdlog::warn("{}", warning);
  return raster;
}

/// Classifies with all train::workers(); rank 0 gets the rows.
void classify_scene(const SegmentationRun& run, const data::Raster& raster, const RowTaker& take) {
  const data::RasterInfo& info = raster.info();
  classify_area(
      *run.model, {0, 0, info.height, info.width},
      {run.config.segment.overlap, run.config.segment.evaluation_batch},
      [&](const data::PixelRect& part) { return data::read_window(raster, part, run.summary.rule); }, take,
      train::workers());
}

}  // namespace

std::vector<report::LegendClass> legend_of(const data::ClassMap& classes) {
  std::vector<report::LegendClass> legend;
  for (const data::SceneClass& one : classes.classes())
    legend.push_back({one.name, {one.color[0], one.color[1], one.color[2]}});
  return legend;
}

AreaImages area_figures(const SegmentationRun& run, const data::SceneArea& area, int64_t maximum) {
  const data::SegmentationSet& set = *run.set;
  data::SceneArea part = area;
  part.area.height = std::min(maximum, area.area.height);
  part.area.width = std::min(maximum, area.area.width);
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
  return {scene_figure(window),
          report::class_figure(width, height, truth, legend),
          report::class_figure(width, height, predicted, legend),
          {width, height, std::move(wrong)}};
}

void help_predict_scene(const SegmentationRun& run, const std::string& scene) {
  classify_scene(run, *open_scene(run, scene), [](const FinishedRows&) {});
}

nlohmann::ordered_json predict_scene(const SegmentationRun& run, const std::string& scene,
                                     const fs::path& map) {
  const std::unique_ptr<data::Raster> raster = open_scene(run, scene);
  const data::RasterInfo& info = raster->info();
  for (const std::string& warning : data::value_warnings(*raster, run.summary.rule))
    spdlog::warn("{}", warning);
  const data::ClassMap& classes = run.summary.classes;
  const int32_t nodata = classes.map_numbers().nodata;
  std::vector<int64_t> pixels(static_cast<size_t>(classes.size()));
  int64_t without_data = 0;
  MapFile writer(map, map_info(info, classes));
  Thumbnail thumbnail(info.height, info.width);
  Progress progress("predict", info.height, "rows");
  const auto take = [&](const FinishedRows& rows) {
    std::vector<int16_t> called(rows.valid.size());
    highest_classes(rows.logits, classes.size(), called);
    std::vector<int32_t> values(called.size());
    std::vector<uint8_t> numbers(called.size());
    for (size_t i = 0; i < called.size(); ++i) {
      const bool known = rows.valid[i] != 0;
      const auto c = static_cast<size_t>(called[i]);
      values[i] = known ? static_cast<int32_t>(classes.classes()[c].id) : nodata;
      numbers[i] = known ? static_cast<uint8_t>(c) : 255;
      ++(known ? pixels[c] : without_data);
    }
    writer.write_rows(rows.first_row, values);
    const auto width = static_cast<size_t>(info.width);
    for (int64_t row = 0; row < rows.rows; ++row)
      thumbnail.add(rows.first_row + row,
                    std::span(numbers).subspan(static_cast<size_t>(row) * width, width));
    progress.update(rows.first_row + rows.rows);
  };
  classify_scene(run, *raster, take);
  progress.finish();
  writer.close();
  const fs::path figure = fs::path(map).replace_extension(".png");
  write_file_atomically(figure, report::to_png(thumbnail.figure(legend_of(classes))));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (size_t c = 0; c < pixels.size(); ++c)
    list.push_back(
        {{"id", classes.classes()[c].id},
         {"name", classes.classes()[c].name},
         {"pixels", pixels[c]},
         {"share", static_cast<double>(pixels[c]) / static_cast<double>(info.height * info.width)}});
  return {
      {"scene", scene},        {"map", map.string()},          {"picture", figure.string()},
      {"height", info.height}, {"width", info.width},          {"crs", info.geo ? info.geo->crs_text() : ""},
      {"classes", list},       {"without_data", without_data}, {"nodata", nodata}};
}

}  // namespace modewise::tasks
