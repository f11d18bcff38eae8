// Statistics of a segmentation set: classes, scale of the bands, hash.

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/data/fill_values.h"
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

/// Whether ids are evenly spaced grey levels from 0 to 255, as image programs write the classes of a mask:
/// 0 and 255; 0, 128 and 255; 0, 85, 170 and 255.
bool are_grey_levels(const std::map<int64_t, int64_t>& ids) {
  if (ids.size() < 2 || ids.size() > 6 || ids.begin()->first != 0 || ids.rbegin()->first != 255) return false;
  const double step = 255 / static_cast<double>(ids.size() - 1);
  double level = 0;
  for (const auto& [id, pixels] : ids) {
    if (std::abs(static_cast<double>(id) - level) > 1) return false;
    level += step;
  }
  return true;
}

std::vector<int64_t> ids_of(const std::map<int64_t, int64_t>& pixels) {
  std::vector<int64_t> ids;
  for (const auto& [id, count] : pixels) ids.push_back(id);
  return ids;
}

struct FileHashes {
  std::string all;
  std::vector<std::string> images;  // of their contents; empty for large sets
};

FileHashes hashes_of(const std::vector<SceneFile>& files) {
  int64_t bytes = 0;
  for (const SceneFile& file : files)
    for (const std::string& path : {file.image, file.mask})
      bytes += static_cast<int64_t>(std::filesystem::file_size(path));
  const bool read = bytes <= kMaxHashedBytes;
  const auto hash = [&](const std::string& path) {
    return read ? content_hash(io::MappedFile(path).bytes())
                : std::to_string(std::filesystem::file_size(path));
  };
  FileHashes hashes;
  std::string text;
  for (const SceneFile& file : files) {
    const std::string image = hash(file.image);
    text += file.name + "\n" + image + "\n" + hash(file.mask) + "\n";
    if (read) hashes.images.push_back(image);
  }
  hashes.all = content_hash(as_bytes(text));
  return hashes;
}

std::string joined(const std::vector<int64_t>& ids) {
  return fmt::format("{}", fmt::join(ids, ", "));
}

}  // namespace

std::map<int64_t, int64_t> SegmentationSet::mask_pixels() const {
  std::map<int64_t, int64_t> pixels;
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
        ++pixels[static_cast<int64_t>(value)];
      }
      require(pixels.size() <= 300, ErrorKind::data,
              "{}: more than 300 different values: is it a mask of class ids?", raster->info().source);
    }
  }
  return pixels;
}

std::vector<int64_t> SegmentationSet::ignored_by_default(const std::map<int64_t, int64_t>& found) {
  std::set<int64_t> ignored = {-1, 255};
  for (const double nodata : mask_nodata_)
    if (nodata == std::floor(nodata) && std::abs(nodata) < 1e6) ignored.insert(static_cast<int64_t>(nodata));
  if (mask_nodata_.empty() && are_grey_levels(found)) {
    ignored.erase(255);
    notes_.push_back(fmt::format(
        "the masks have the grey levels {}: 255 is taken as a class; data.ignore = [255] ignores it",
        joined(ids_of(found))));
  }
  return {ignored.begin(), ignored.end()};
}

void SegmentationSet::find_classes() {
  std::vector<int64_t> ignored = config_.ignore;
  if (ignored.empty() && config_.classes != "auto") ignored = ignored_by_default({});
  std::sort(ignored.begin(), ignored.end());
  ignored.erase(std::unique(ignored.begin(), ignored.end()), ignored.end());
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
    require(config_.class_ids.size() > 1, ErrorKind::config,
            "data.class_ids: expected at least two classes, got [{}]", joined(config_.class_ids));
    classes_ = ClassMap("list", plain_classes(config_.class_ids, config_.class_names, config_.class_colors),
                        ignored);
    return;
  }
  const std::map<int64_t, int64_t> found = mask_pixels();
  if (ignored.empty()) ignored = ignored_by_default(found);
  std::erase_if(ignored, [&](int64_t id) { return !found.contains(id); });
  std::vector<int64_t> ids = ids_of(found);
  std::erase_if(ids, [&](int64_t id) { return std::binary_search(ignored.begin(), ignored.end(), id); });
  require(!ids.empty(), ErrorKind::data,
          "{}: the masks have no class id that is not ignored ({}); data.classes = \"list\" with "
          "data.class_ids = [{}] "
          "makes them classes",
          config_.masks, joined(ignored), joined(ids_of(found)));
  require(ids.size() > 1 || !ignored.empty(), ErrorKind::data,
          "{}: expected masks of at least two classes, but all their pixels have the id {}", config_.masks,
          ids.front());
  const std::string advice = fmt::format(
      "data.classes = \"list\" with data.class_ids = [{}] makes {} a class too, data.ignore = […] ignores "
      "other "
      "ids instead",
      joined(ids_of(found)), joined(ignored));
  require(
      ids.size() > 1, ErrorKind::data,
      "{}: expected masks of at least two classes, but only the id {} is left, since {} {} ignored ({}); {}",
      config_.masks, ids.front(), joined(ignored), ignored.size() == 1 ? "is" : "are",
      config_.ignore.empty() ? "-1, 255 and the masks' nodata value usually mark pixels without a label"
                             : "by data.ignore",
      advice);
  classes_ = ClassMap("auto", plain_classes(ids, {}), ignored);
  notes_.push_back(fmt::format("classes found in the masks: {}; ignored: {}", joined(ids),
                               ignored.empty() ? "nothing" : joined(ignored)));
  FillValues fills;
  for (const int64_t id : ids) fills.see(static_cast<double>(id), id);
  for (const FillValues::Found& fill : fills.found())
    warnings_.push_back(
        fmt::format("{} pixels of the masks have the id {}, which usually marks pixels without a "
                    "label: data.ignore = [{}] ignores them",
                    found.at(fill.first), fill.first, fill.first));
  if (ignored.empty() || !config_.ignore.empty()) return;
  int64_t left_out = 0, all = 0;
  for (const auto& [id, pixels] : found) {
    all += pixels;
    if (std::binary_search(ignored.begin(), ignored.end(), id)) left_out += pixels;
  }
  notes_.push_back(fmt::format("{:.1f} % of the mask pixels are ignored; {}",
                               100 * static_cast<double>(left_out) / static_cast<double>(all), advice));
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
  const std::vector<int64_t>& trained = pixels_[0];
  const int64_t known = std::count_if(trained.begin(), trained.end(), [](int64_t n) { return n > 0; });
  require(areas_[0].empty() || known > 1 || !all, ErrorKind::data,
          "{}: the training split has labelled pixels of {} class{}, but a model needs two; data.split_seed, "
          "data.blocks or data.validation and data.test give another split",
          config_.masks, known, known == 1 ? "" : "es");
  if (!all)
    notes_.push_back(fmt::format("class counts and scale are measured on {} tiles per split", kMaxSampled));
}

void SegmentationSet::measure() {
  const size_t bands = rule_.bands.size();
  std::vector<double> sum(bands, 0), square(bands, 0);
  double count = 0;
  std::vector<FillValues> fills(bands);  // of each band
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
          fills[band].see(value, area.file);
          sum[band] += value;
          square[band] += value * value;
        }
      }
    }
  }
  require(count > 0, ErrorKind::data, "{}: no pixel of the training split has data", config_.path);
  warn_of_fills(fills);
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

void SegmentationSet::warn_of_fills(const std::vector<FillValues>& fills) {
  for (size_t band = 0; band < fills.size(); ++band)
    for (const FillValues::Found& fill : fills[band].found()) {
      const std::string value = fill_text(fill.value);
      warnings_.push_back(fmt::format(
          "{} training pixels have {} in band {}, which usually stands for a missing value, the first in {}: "
          "data.nodata = {} treats them as missing",
          fill.count, value, rule_.bands[band], files_.files[static_cast<size_t>(fill.first)].image, value));
    }
}

void SegmentationSet::warn_of_values() {
  for (const SceneArea& area : sampled(areas_[2], kMaxSampled)) {
    const std::vector<std::string> warnings = value_warnings(*image(area.file), rule_);
    warnings_.insert(warnings_.end(), warnings.begin(), warnings.end());
    if (!warnings.empty()) return;  // the first image stands for others
  }
}

void SegmentationSet::make_hash() {
  const FileHashes hashes = hashes_of(files_.files);
  hash_ = hashes.all;
  warn_of_copies(hashes.images);
}

void SegmentationSet::warn_of_copies(const std::vector<std::string>& contents) {
  std::set<std::string> known;
  const auto is_test = [&](size_t i) { return files_.files[i].split == SceneSplit::test; };
  for (size_t i = 0; i < contents.size(); ++i)
    if (!is_test(i)) known.insert(contents[i]);
  int64_t tests = 0, copies = 0;
  for (size_t i = 0; i < contents.size(); ++i) {
    tests += is_test(i);
    copies += is_test(i) && known.contains(contents[i]);
  }
  if (copies > 0)
    warnings_.push_back(
        fmt::format("{}: {} of the {} test images {} identical to images of the training or validation "
                    "split, which makes "
                    "its results too good",
                    config_.path, copies, tests, is_or_are(copies)));
}

bool has_hash(const SegmentationDataConfig& config, const std::string& hash) {
  try {
    std::vector<SceneFile> files = find_scene_files(config, true).files;
    if (hashes_of(files).all == hash) return true;
    std::erase_if(files, [](const SceneFile& file) { return file.split == SceneSplit::test; });
    return hashes_of(files).all == hash;
  } catch (const Error& error) {  // they cannot be split as those of the hash
    if (error.kind() != ErrorKind::data) throw;
    return false;
  }
}

}  // namespace modewise::data
