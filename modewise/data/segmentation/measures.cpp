// Statistics of a segmentation set: classes, scale of the bands, hash.

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/data/segmentation/segmentation_set.h"
#include "modewise/io/mapped_file.h"

namespace modewise::data {
namespace {

constexpr int64_t kMaxSampled = 500;                     // tiles per split used for class counts and scale
constexpr int64_t kMaxHashedBytes = int64_t{256} << 20;  // larger files: names and sizes are hashed

/// About `maximum` of `areas`, evenly spaced.
std::vector<SceneArea> sampled(const std::vector<SceneArea>& areas, int64_t maximum) {
  const auto n = static_cast<int64_t>(areas.size());
  if (n <= maximum) return areas;
  std::vector<SceneArea> result;
  for (int64_t i = 0; i < maximum; ++i) result.push_back(areas[static_cast<size_t>(i * n / maximum)]);
  return result;
}

}  // namespace

void SegmentationSet::find_classes() {
  std::vector<int64_t> ignored = config_.ignore;
  if (ignored.empty()) {
    ignored = {-1, 255};
    if (mask_nodata_ && *mask_nodata_ == std::floor(*mask_nodata_) && std::abs(*mask_nodata_) < 1e6)
      ignored.push_back(static_cast<int64_t>(*mask_nodata_));
  }
  std::sort(ignored.begin(), ignored.end());
  ignored.erase(std::unique(ignored.begin(), ignored.end()), ignored.end());
  const auto without = [&](std::vector<SceneClass> all, const std::vector<int64_t>& ids) {
    std::erase_if(
        all, [&](const SceneClass& one) { return std::find(ids.begin(), ids.end(), one.id) != ids.end(); });
    return all;
  };
  if (config_.classes == "nlcd" || config_.classes == "cdl") {
    classes_ = config_.classes == "nlcd" ? nlcd_classes() : cdl_classes();
    require(config_.ignore.empty() || config_.ignore == classes_.ignored_ids(), ErrorKind::config,
            "data.classes = \"{}\" ignores only 0: data.ignore must be empty", config_.classes);
    return;
  }
  if (config_.classes == "list") {
    std::erase_if(ignored, [&](int64_t id) {
      return config_.ignore.empty() &&
             std::find(config_.class_ids.begin(), config_.class_ids.end(), id) != config_.class_ids.end();
    });
    classes_ = ClassMap("list", plain_classes(config_.class_ids, config_.class_names, config_.class_colors),
                        ignored);
    return;
  }
  std::set<int64_t> found;
  for (size_t i = 0; i < files_.files.size(); ++i) {
    const std::shared_ptr<const Raster> raster = mask(static_cast<int64_t>(i));
    std::vector<float> values;
    for (const PixelRect& part : in_parts(sizes_[i], 1)) {
      values.resize(static_cast<size_t>(part.pixels()));
      raster->read(part, values);
      for (const float value : values) {
        if (std::isnan(value)) continue;
        require(value == std::floor(value) && std::abs(value) < 1e6F, ErrorKind::data,
                "{}: class ids of a mask must be whole numbers, got {}", raster->info().source, value);
        found.insert(static_cast<int64_t>(value));
      }
      require(found.size() <= 300, ErrorKind::data,
              "{}: more than 300 different values: is it a mask of class ids?", raster->info().source);
    }
  }
  std::erase_if(ignored, [&](int64_t id) { return !found.contains(id); });
  const std::vector<SceneClass> classes = without(plain_classes({found.begin(), found.end()}, {}), ignored);
  require(!classes.empty(), ErrorKind::data, "{}: the masks have no class id that is not ignored ({})",
          config_.masks, fmt::join(ignored, ", "));
  std::vector<int64_t> ids;
  for (const SceneClass& one : classes) ids.push_back(one.id);
  classes_ = ClassMap("auto", plain_classes(ids, {}), ignored);
  notes_.push_back(fmt::format("classes found in the masks: {}; ignored: {}", fmt::join(ids, ", "),
                               ignored.empty() ? "nothing" : fmt::format("{}", fmt::join(ignored, ", "))));
}

void SegmentationSet::count_classes() {
  bool all = true;
  for (size_t split = 0; split < areas_.size(); ++split) {
    pixels_[split].assign(static_cast<size_t>(classes_.size()), 0);
    const std::vector<SceneArea> counted = sampled(areas_[split], kMaxSampled);
    all = all && counted.size() == areas_[split].size();
    for (const SceneArea& area : counted)
      for (const PixelRect& part : in_parts(area.area, 1))
        for (const int16_t label : labels(area.file, part))
          if (label >= 0) ++pixels_[split][static_cast<size_t>(label)];
  }
  if (!all)
    notes_.push_back(fmt::format("class counts and scale are measured on {} tiles per split", kMaxSampled));
}

void SegmentationSet::measure() {
  const size_t bands = rule_.bands.size();
  std::vector<double> sum(bands, 0), square(bands, 0);
  double count = 0;
  PixelRule plain = rule_;
  plain.scale.mean.assign(bands, 0);
  plain.scale.stddev.assign(bands, 1);
  for (const SceneArea& area : sampled(areas_[0], kMaxSampled)) {
    const std::shared_ptr<const Raster> raster = image(area.file);
    for (const PixelRect& part : in_parts(area.area, times_ * file_bands_)) {
      const SceneWindow window = read_window(*raster, part, plain);
      for (size_t pixel = 0; pixel < window.valid.size(); ++pixel) {
        if (window.valid[pixel] == 0) {
          missing_ = true;
          continue;
        }
        count += 1;
        for (size_t band = 0; band < bands; ++band) {
          const double value = window.image[pixel * bands + band];
          sum[band] += value;
          square[band] += value * value;
        }
      }
    }
  }
  require(count > 0, ErrorKind::data, "{}: no pixel of the training split has data", config_.path);
  if (config_.scale != "standard") return;
  for (size_t band = 0; band < bands; ++band) {
    const double mean = sum[band] / count, variance = square[band] / count - mean * mean;
    rule_.scale.mean[band] = mean;
    const bool constant = !(variance > 1e-12 * std::max(1.0, mean * mean));
    rule_.scale.stddev[band] = constant ? 1 : std::sqrt(variance);
    if (constant)
      notes_.push_back(fmt::format("band {} is constant in the training split", rule_.bands[band]));
  }
}

void SegmentationSet::make_hash() {
  std::string text;
  int64_t bytes = 0;
  for (const SceneFile& file : files_.files)
    for (const std::string& path : {file.image, file.mask})
      bytes += static_cast<int64_t>(std::filesystem::file_size(path));
  for (const SceneFile& file : files_.files) {
    text += file.name + "\n";
    for (const std::string& path : {file.image, file.mask})
      text += (bytes <= kMaxHashedBytes ? content_hash(io::MappedFile(path).bytes())
                                        : std::to_string(std::filesystem::file_size(path))) +
              "\n";
  }
  hash_ = content_hash(as_bytes(text));
}

}  // namespace modewise::data
