#include "modewise/data/segmentation/segmentation_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/progress.h"
#include "modewise/io/images/image.h"

namespace modewise::data {
namespace {

constexpr int64_t kFreeBytes = int64_t{64} << 20;  // allowance for a decoded copy beyond twice the file size

/// Whether the tags place the pixels.
bool has_transform(const io::GeoReference& geo) {
  return (geo.pixel_scale.size() >= 2 && geo.tie_points.size() >= 6) || geo.transformation.size() == 16;
}

std::string text_of(const std::array<double, 6>& transform) {
  return fmt::format("first pixel at ({}, {}), steps ({}, {}) along a row and ({}, {}) along a column",
                     transform[2], transform[5], transform[0], transform[3], transform[1], transform[4]);
}

/// Data error if the tags of a mask place its pixels elsewhere than those of its image, beyond a tenth of a
/// pixel, or in another coordinate reference system.
void require_same_place(const RasterInfo& image, const RasterInfo& mask) {
  constexpr double kTolerance = 0.1;  // pixels
  constexpr const char* kRemedy =
      "warp the mask onto the image (gdalwarp), or copy the image's tags if the pixels fit (gdal_edit.py)";
  if (!image.geo || !mask.geo) return;
  const std::string crs = image.geo->crs_text(), mask_crs = mask.geo->crs_text();
  require(!crs.starts_with("EPSG:") || !mask_crs.starts_with("EPSG:") || crs == mask_crs, ErrorKind::data,
          "{}: the mask is in {}, but its image {} in {}; {}", mask.source, mask_crs, image.source, crs,
          kRemedy);
  if (!has_transform(*image.geo) || !has_transform(*mask.geo)) return;
  const std::array<double, 6> own = mask.geo->transform(), of_image = image.geo->transform();
  double farthest = 0;
  for (const PixelRect& pixel :
       {PixelRect(), PixelRect{.column = image.width}, PixelRect{.row = image.height}})
    for (const size_t axis : {0, 3}) {
      const auto place = [&](const std::array<double, 6>& t) {
        return t[axis] * static_cast<double>(pixel.column) + t[axis + 1] * static_cast<double>(pixel.row) +
               t[axis + 2];
      };
      farthest = std::max(farthest, std::abs(place(own) - place(of_image)));
    }
  require(farthest <= kTolerance * std::hypot(of_image[0], of_image[3]), ErrorKind::data,
          "{}: the georeference of the mask ({}) is not that of its image {} ({}); {}", mask.source,
          text_of(own), image.source, text_of(of_image), kRemedy);
}

}  // namespace

SegmentationSet::SegmentationSet(const SegmentationDataConfig& config, int64_t window_multiple,
                                 bool with_test)
    : config_(config), files_(find_scene_files(config, true)) {
  if (!with_test) leave_test_files_out();
  check_pairs();
  find_classes();
  choose_window(window_multiple);
  if (files_.layout == "scene")
    split_scene();
  else
    split_tiles();
  if (!with_test) areas_[static_cast<size_t>(SceneSplit::test)].clear();
  cut_tiles();
  count_classes();
  measure();
  make_hash();
}

SegmentationSet::SegmentationSet(const SegmentationDataConfig& config, const SceneSummary& run, bool whole,
                                 bool with_test)
    : config_(config),
      files_(find_scene_files(config, true, !whole)),
      classes_(run.classes),
      rule_(run.rule) {
  if (!with_test) leave_test_files_out();
  check_pairs();
  for (size_t i = 0; i < files_.files.size(); ++i) require_fits(run, image(static_cast<int64_t>(i))->info());
  rule_ = run.rule;
  window_ = run.window;
  missing_ = run.missing;
  if (whole) {
    for (size_t i = 0; i < sizes_.size(); ++i) areas_[2].push_back({static_cast<int64_t>(i), sizes_[i]});
    files_.rule = "all pixels";
    warn_of_nodata_classes();
    warn_of_values();
  } else if (files_.layout == "scene") {
    split_scene();
  } else {
    split_tiles();
  }
  if (!with_test) areas_[static_cast<size_t>(SceneSplit::test)].clear();
  count_classes();
  make_hash();
}

void SegmentationSet::leave_test_files_out() {
  std::erase_if(files_.files, [](const SceneFile& file) { return file.split == SceneSplit::test; });
}

std::shared_ptr<const Raster> SegmentationSet::opened(int64_t file, bool of_mask) const {
  const auto place = static_cast<size_t>(2 * file + (of_mask ? 1 : 0));
  const SceneFile& names = files_.files[static_cast<size_t>(file)];
  {
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) kept_.resize(2 * files_.files.size());
    if (kept_[place]) return kept_[place];
  }
  std::shared_ptr<const Raster> raster =
      of_mask ? open_mask(names.mask, config_.axes) : open_raster(names.image, config_.axes);
  const RasterInfo& info = raster->info();
  const int64_t bytes = bytes_in_memory(info);
  const int64_t budget = config_.cache_mb * 1000000;
  const std::lock_guard lock(mutex_);
  const bool fits = kept_bytes_ + bytes <= budget && bytes <= 2 * info.file_bytes + kFreeBytes;
  if (fits) {
    raster = in_memory(*raster);
    kept_bytes_ += bytes;
  }
  if (fits || files_.layout == "scene") kept_[place] = raster;  // keep a single file open, but not thousands
  return raster;
}

void SegmentationSet::check_pairs() {
  const auto n = static_cast<int64_t>(files_.files.size());
  Progress progress("check", n, "images");
  RasterInfo first;
  int64_t unread = 0;
  std::string pages;  // of the first file with several
  for (int64_t i = 0; i < n; ++i) {
    const RasterInfo info = image(i)->info(), mask_info = mask(i)->info();
    if (i == 0) first = info;
    if (mask_info.nodata) mask_nodata_.insert(*mask_info.nodata);
    require(mask_info.times == 1 && mask_info.bands == 1, ErrorKind::data,
            "{}: a mask must have one band of class ids, got {} bands{}", mask_info.source,
            mask_info.times * mask_info.bands,
            io::named_as_image(mask_info.source)
                ? "; colours are not ids: save it with a palette, or as grey levels"
                : "");
    require(mask_info.height == info.height && mask_info.width == info.width, ErrorKind::data,
            "{}: the mask has {} × {} pixels, but its image {} has {} × {}", mask_info.source,
            mask_info.height, mask_info.width, info.source, info.height, info.width);
    require_same_place(info, mask_info);
    for (const RasterInfo* one : {&info, &mask_info})
      if (std::string warning = unread_pages(*one); !warning.empty() && unread++ == 0)
        pages = std::move(warning);
    require(info.bands == first.bands && info.times == first.times, ErrorKind::data,
            "{}: {} dates of {} bands, but {} has {} of {}: all images must have the same dates and bands",
            info.source, info.times, info.bands, first.source, first.times, first.bands);
    sizes_.push_back({0, 0, info.height, info.width});
    progress.update(i + 1);
  }
  progress.finish();
  if (unread > 1) pages += fmt::format(" ({} files have several pages)", unread);
  if (unread > 0) warnings_.push_back(pages);
  notes_ = files_.notes;
  times_ = first.times;
  file_bands_ = first.bands;
  rule_.bands = config_.bands;
  for (const int64_t band : rule_.bands)
    require(band < first.bands, ErrorKind::data,
            "{}: data.bands contains {}, but the image has bands 0 to {}", first.source, band,
            first.bands - 1);
  if (rule_.bands.empty())
    for (int64_t band = 0; band < first.bands; ++band) rule_.bands.push_back(band);
  rule_.nodata = config_.nodata;
  rule_.scale.mean.assign(rule_.bands.size(), 0);
  rule_.scale.stddev.assign(rule_.bands.size(), config_.scale == "divide" ? config_.divide : 1);
}

void SegmentationSet::warn_of_nodata_classes() {
  for (const double nodata : mask_nodata_)
    if (classes_.index_of(nodata).value_or(ClassMap::ignored) != ClassMap::ignored)
      warnings_.push_back(fmt::format(
          "{}: the nodata value {} of the masks is a class of the run: its pixels are counted as that class",
          config_.masks, nodata));
}

bool SegmentationSet::is_unlabelled(double id, const RasterInfo& of_mask) const {
  return id == of_mask.nodata || (config_.ignore.empty() && (id == -1 || id == 255));
}

std::vector<int16_t> SegmentationSet::labels(int64_t file, const PixelRect& area) const {
  const std::shared_ptr<const Raster> raster = mask(file);
  std::vector<float> ids(static_cast<size_t>(area.pixels()));
  raster->read(area, ids);
  std::vector<int16_t> result(ids.size(), ClassMap::ignored);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (std::isnan(ids[i])) continue;
    const std::optional<int16_t> index = classes_.index_of(ids[i]);
    if (index) result[i] = *index;
    if (index || config_.ignore_unlisted || is_unlabelled(ids[i], raster->info())) continue;
    fail(ErrorKind::data,
         "{}: row {}, column {}: class id {} is not in the class map '{}' ({}); data.ignore_unlisted = true "
         "ignores such pixels",
         raster->info().source, area.row + static_cast<int64_t>(i) / area.width,
         area.column + static_cast<int64_t>(i) % area.width, ids[i], classes_.name(), classes_.ids_text());
  }
  return result;
}

SceneWindow SegmentationSet::read(const SceneArea& area) const {
  SceneWindow window = read_image(area);
  window.labels = labels(area.file, area.area);
  return window;
}

SceneWindow SegmentationSet::read_image(const SceneArea& area) const {
  return read_window(*image(area.file), area.area, rule_);
}

}  // namespace modewise::data
