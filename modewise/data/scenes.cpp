#include "modewise/data/scenes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/core/progress.h"
#include "modewise/io/mapped_file.h"

namespace modewise::data {
namespace {

constexpr int64_t most_sampled = 500;              // tiles of a split that are counted and measured
constexpr int64_t most_values = int64_t{1} << 22;  // of a part that is read at once
constexpr int64_t free_bytes = int64_t{64} << 20;  // a decoded copy may take this beyond twice the file
constexpr int64_t most_hashed_bytes = int64_t{256} << 20;  // beyond it names and sizes are hashed
constexpr int64_t usual_window = 64, ssl4eo_window = 224;

/// About `most` of `areas`, evenly spaced.
std::vector<SceneArea> sampled(const std::vector<SceneArea>& areas, int64_t most) {
  const auto n = static_cast<int64_t>(areas.size());
  if (n <= most) return areas;
  std::vector<SceneArea> result;
  for (int64_t i = 0; i < most; ++i) result.push_back(areas[static_cast<size_t>(i * n / most)]);
  return result;
}

/// The area in bands of rows that hold at most `most_values` values.
std::vector<PixelRect> in_parts(const PixelRect& area, int64_t values_a_pixel) {
  const int64_t rows = std::max<int64_t>(1, most_values / std::max<int64_t>(1, area.width * values_a_pixel));
  std::vector<PixelRect> parts;
  for (int64_t row = 0; row < area.height; row += rows)
    parts.push_back({area.row + row, area.column, std::min(rows, area.height - row), area.width});
  return parts;
}

PixelRect central(const PixelRect& area, int64_t side) {
  const int64_t height = std::min(side, area.height), width = std::min(side, area.width);
  return {area.row + (area.height - height) / 2, area.column + (area.width - width) / 2, height, width};
}

std::optional<double> nodata_of(const std::string& setting, const std::optional<double>& file) {
  if (setting == "auto") return file;
  if (setting == "none") return std::nullopt;
  return std::strtod(setting.c_str(), nullptr);
}

/// Starts of tiles of `tile` pixels along an axis, `count` of them, evenly spread.
std::vector<int64_t> starts(int64_t length, int64_t tile, int64_t count) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(count > 1 ? i * (length - tile) / (count - 1) : (length - tile) / 2);
  return result;
}

}  // namespace

SceneWindow read_window(const Raster& raster, const PixelRect& window, const PixelRule& rule) {
  const RasterInfo& info = raster.info();
  const auto bands = static_cast<int64_t>(rule.bands.size());
  SceneWindow out(info.times, window.height, window.width, bands, false);
  const int64_t top = std::max<int64_t>(0, window.row), left = std::max<int64_t>(0, window.column);
  const PixelRect inside{top, left, std::min(info.height, window.row + window.height) - top,
                         std::min(info.width, window.column + window.width) - left};
  if (inside.height <= 0 || inside.width <= 0) return out;
  std::vector<float> raw(static_cast<size_t>(info.times * inside.pixels() * info.bands));
  raster.read(inside, raw);
  const std::optional<double> nodata = nodata_of(rule.nodata, info.nodata);
  const auto missing = static_cast<float>(nodata.value_or(0));
  std::vector<float> mean, factor;
  for (int64_t band = 0; band < bands; ++band) {
    mean.push_back(static_cast<float>(rule.scale.mean[static_cast<size_t>(band)]));
    factor.push_back(static_cast<float>(1 / rule.scale.deviation[static_cast<size_t>(band)]));
  }
  const float* pixel = raw.data();
  for (int64_t t = 0; t < info.times; ++t)
    for (int64_t row = 0; row < inside.height; ++row)
      for (int64_t column = 0; column < inside.width; ++column, pixel += info.bands) {
        const int64_t to = (t * window.height + inside.row - window.row + row) * window.width +
                           inside.column - window.column + column;
        bool valid = true;
        for (const int64_t band : rule.bands) {
          const float value = pixel[band];
          valid = valid && std::isfinite(value) && !(nodata && value == missing);
        }
        out.valid[static_cast<size_t>(to)] = valid;
        if (!valid) continue;
        float* target = out.image.data() + to * bands;
        for (int64_t band = 0; band < bands; ++band)
          target[band] = (pixel[rule.bands[static_cast<size_t>(band)]] - mean[static_cast<size_t>(band)]) *
                         factor[static_cast<size_t>(band)];
      }
  return out;
}

SceneSet::SceneSet(const SceneConfig& config, int64_t window_multiple)
    : config_(config), files_(find_scene_files(config, true)) {
  check_pairs();
  find_classes();
  choose_window(window_multiple);
  if (files_.layout == "scene")
    split_scene();
  else
    split_tiles();
  cut_tiles();
  count_classes();
  measure();
  make_hash();
}

SceneSet::SceneSet(const SceneConfig& config, const SceneSummary& run, bool whole)
    : config_(config), files_(find_scene_files(config, true)), classes_(run.classes), rule_(run.rule) {
  check_pairs();
  for (size_t i = 0; i < files_.files.size(); ++i) require_fits(run, image(static_cast<int64_t>(i))->info());
  rule_ = run.rule;
  window_ = run.window;
  missing_ = run.missing;
  if (whole) {
    for (size_t i = 0; i < sizes_.size(); ++i) areas_[2].push_back({static_cast<int64_t>(i), sizes_[i]});
    files_.rule = "all pixels";
  } else if (files_.layout == "scene") {
    split_scene();
  } else {
    split_tiles();
  }
  count_classes();
  make_hash();
}

std::shared_ptr<const Raster> SceneSet::opened(int64_t file, bool of_mask) const {
  const auto place = static_cast<size_t>(2 * file + (of_mask ? 1 : 0));
  const SceneFile& names = files_.files[static_cast<size_t>(file)];
  {
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) kept_.resize(2 * files_.files.size());
    if (kept_[place]) return kept_[place];
  }
  std::shared_ptr<const Raster> raster = open_raster(of_mask ? names.mask : names.image, config_.axes);
  const RasterInfo& info = raster->info();
  const int64_t bytes = info.times * info.pixels() * info.bands * int64_t{sizeof(float)};
  const int64_t budget = config_.cache_mb * 1000000;
  const std::lock_guard lock(mutex_);
  const bool fits = kept_bytes_ + bytes <= budget && bytes <= 2 * info.file_bytes + free_bytes;
  if (fits) {
    raster = in_memory(*raster);
    kept_bytes_ += bytes;
  }
  if (fits || files_.layout == "scene") kept_[place] = raster;  // one file may stay open, thousands may not
  return raster;
}

void SceneSet::check_pairs() {
  const auto n = static_cast<int64_t>(files_.files.size());
  Progress progress("check", n, "images");
  RasterInfo first;
  for (int64_t i = 0; i < n; ++i) {
    const RasterInfo info = image(i)->info(), mask_info = mask(i)->info();
    if (i == 0) {
      first = info;
      mask_nodata_ = mask_info.nodata;
    }
    require(mask_info.times == 1 && mask_info.bands == 1, ErrorKind::data,
            "{}: a mask has one class id a pixel, but this has {} bands", mask_info.source,
            mask_info.times * mask_info.bands);
    require(mask_info.height == info.height && mask_info.width == info.width, ErrorKind::data,
            "{}: the mask has {} × {} pixels, but its image {} has {} × {}", mask_info.source,
            mask_info.height, mask_info.width, info.source, info.height, info.width);
    require(info.bands == first.bands && info.times == first.times, ErrorKind::data,
            "{}: {} dates of {} bands, but {} has {} of {}: the images of a set have the same bands",
            info.source, info.times, info.bands, first.source, first.times, first.bands);
    sizes_.push_back({0, 0, info.height, info.width});
    progress.update(i + 1);
  }
  progress.finish();
  times_ = first.times;
  file_bands_ = first.bands;
  rule_.bands = config_.bands;
  for (const int64_t band : rule_.bands)
    require(band < first.bands, ErrorKind::data, "{}: data.bands holds {}, but the image has bands 0 to {}",
            first.source, band, first.bands - 1);
  if (rule_.bands.empty())
    for (int64_t band = 0; band < first.bands; ++band) rule_.bands.push_back(band);
  rule_.nodata = config_.nodata;
  rule_.scale.mean.assign(rule_.bands.size(), 0);
  rule_.scale.deviation.assign(rule_.bands.size(), config_.scale == "divide" ? config_.divide : 1);
}

void SceneSet::find_classes() {
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
            "data.classes = \"{}\" ignores 0 alone: data.ignore must stay empty", config_.classes);
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
                "{}: a mask holds whole class ids, but this has {}", raster->info().source, value);
        found.insert(static_cast<int64_t>(value));
      }
      require(found.size() <= 300, ErrorKind::data,
              "{}: more than 300 different numbers: is it a mask of class ids?", raster->info().source);
    }
  }
  std::erase_if(ignored, [&](int64_t id) { return !found.contains(id); });
  const std::vector<SceneClass> classes = without(plain_classes({found.begin(), found.end()}, {}), ignored);
  require(!classes.empty(), ErrorKind::data, "{}: the masks hold no class id that is not ignored ({})",
          config_.masks, fmt::join(ignored, ", "));
  std::vector<int64_t> ids;
  for (const SceneClass& one : classes) ids.push_back(one.id);
  classes_ = ClassMap("auto", plain_classes(ids, {}), ignored);
  notes_.push_back(fmt::format("classes found in the masks: {}; ignored: {}", fmt::join(ids, ", "),
                               ignored.empty() ? "nothing" : fmt::format("{}", fmt::join(ignored, ", "))));
}

void SceneSet::choose_window(int64_t multiple) {
  window_ = config_.window;
  if (window_ == 0) {
    int64_t side = files_.layout == "ssl4eo" ? ssl4eo_window : usual_window;
    for (const PixelRect& size : sizes_) {
      const int64_t shorter = std::min(size.height, size.width);
      side = std::min(side, files_.layout == "scene" ? shorter / 3 : shorter);
    }
    window_ = std::max(multiple, side / multiple * multiple);
  }
  require(window_ % multiple == 0, ErrorKind::config,
          "data.window = {} must be a multiple of {}, the model's patch or its halvings", window_, multiple);
}

void SceneSet::split_tiles() {
  for (size_t i = 0; i < files_.files.size(); ++i) {
    const SceneSplit split = files_.files[i].split.value_or(SceneSplit::train);
    const bool judged = split != SceneSplit::train && config_.centre > 0;
    areas_[static_cast<size_t>(split)].push_back(
        {static_cast<int64_t>(i), judged ? central(sizes_[i], config_.centre) : sizes_[i]});
  }
  require(!areas_[0].empty(), ErrorKind::data, "{}: no tiles to train on", config_.path);
}

void SceneSet::split_scene() {
  BlockRequest request;
  request.height = sizes_[0].height;
  request.width = sizes_[0].width;
  request.window = window_;
  request.validation = config_.validation;
  request.test = config_.test;
  request.guard = config_.guard;
  request.seed = static_cast<uint64_t>(config_.split_seed);
  request.source = config_.path;
  const auto grid = chosen_grid(request);
  request.rows = config_.blocks.empty() ? grid.first : config_.blocks[0];
  request.columns = config_.blocks.empty() ? grid.second : config_.blocks[1];
  require(request.rows <= request.height && request.columns <= request.width, ErrorKind::data,
          "{}: data.blocks = [{}, {}] are more than its {} × {} pixels", config_.path, request.rows,
          request.columns, request.height, request.width);
  std::vector<std::vector<int64_t>> histograms;
  for (int64_t row = 0; row < request.rows; ++row)
    for (int64_t column = 0; column < request.columns; ++column) {
      histograms.emplace_back(static_cast<size_t>(classes_.size()), 0);
      for (const PixelRect& part : in_parts(block_area(request, row, column), 1))
        for (const int16_t label : labels(0, part))
          if (label >= 0) ++histograms.back()[static_cast<size_t>(label)];
    }
  const BlockSplit split = split_blocks(request, histograms);
  for (size_t i = 0; i < areas_.size(); ++i)
    for (const PixelRect& area : split.areas[i]) areas_[i].push_back({0, area});
  files_.rule = fmt::format("{} × {} blocks, {} pixels between those of different splits, seed {}",
                            request.rows, request.columns, config_.guard, config_.split_seed);
}

void SceneSet::cut_tiles() {
  const int64_t stride = config_.stride > 0 ? config_.stride : std::max<int64_t>(1, window_ / 2);
  const int64_t side = window_ + stride;
  bool small = false;
  for (const SceneArea& area : areas_[0]) {
    small = small || area.area.height < window_ || area.area.width < window_;
    // Tiles that are hardly larger than a window are a sample each; larger areas are cut.
    const bool one = files_.layout != "scene" && std::max(area.area.height, area.area.width) <= side;
    const auto count = [&](int64_t length) {
      return one ? 1 : std::max<int64_t>(0, length - window_ + stride - 1) / stride + 1;
    };
    const int64_t height = one ? area.area.height : std::min(side, area.area.height),
                  width = one ? area.area.width : std::min(side, area.area.width);
    for (const int64_t row : starts(area.area.height, height, count(area.area.height)))
      for (const int64_t column : starts(area.area.width, width, count(area.area.width)))
        tiles_.push_back({area.file, {area.area.row + row, area.area.column + column, height, width}});
  }
  if (small)
    notes_.push_back(fmt::format(
        "some training areas are smaller than the window of {} pixels: what is left of it counts as missing",
        window_));
  missing_ = missing_ || small;
}

void SceneSet::count_classes() {
  bool all = true;
  for (size_t split = 0; split < areas_.size(); ++split) {
    pixels_[split].assign(static_cast<size_t>(classes_.size()), 0);
    const std::vector<SceneArea> counted = sampled(areas_[split], most_sampled);
    all = all && counted.size() == areas_[split].size();
    for (const SceneArea& area : counted)
      for (const PixelRect& part : in_parts(area.area, 1))
        for (const int16_t label : labels(area.file, part))
          if (label >= 0) ++pixels_[split][static_cast<size_t>(label)];
  }
  if (!all)
    notes_.push_back(fmt::format("classes and scale are measured on {} tiles of a split", most_sampled));
}

void SceneSet::measure() {
  const size_t bands = rule_.bands.size();
  std::vector<double> sum(bands, 0), square(bands, 0);
  double count = 0;
  PixelRule plain = rule_;
  plain.scale.mean.assign(bands, 0);
  plain.scale.deviation.assign(bands, 1);
  for (const SceneArea& area : sampled(areas_[0], most_sampled)) {
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
  require(count > 0, ErrorKind::data, "{}: no pixel of the training part has data", config_.path);
  if (config_.scale != "standard") return;
  for (size_t band = 0; band < bands; ++band) {
    const double mean = sum[band] / count, variance = square[band] / count - mean * mean;
    rule_.scale.mean[band] = mean;
    const bool constant = !(variance > 1e-12 * std::max(1.0, mean * mean));
    rule_.scale.deviation[band] = constant ? 1 : std::sqrt(variance);
    if (constant)
      notes_.push_back(fmt::format("band {} is constant in the training part", rule_.bands[band]));
  }
}

void SceneSet::make_hash() {
  std::string text;
  int64_t bytes = 0;
  for (const SceneFile& file : files_.files)
    for (const std::string& path : {file.image, file.mask})
      bytes += static_cast<int64_t>(std::filesystem::file_size(path));
  for (const SceneFile& file : files_.files) {
    text += file.name + "\n";
    for (const std::string& path : {file.image, file.mask})
      text += (bytes <= most_hashed_bytes ? content_hash(io::MappedFile(path).bytes())
                                          : std::to_string(std::filesystem::file_size(path))) +
              "\n";
  }
  hash_ = content_hash(as_bytes(text));
}

std::vector<int16_t> SceneSet::labels(int64_t file, const PixelRect& area) const {
  const std::shared_ptr<const Raster> raster = mask(file);
  std::vector<float> ids(static_cast<size_t>(area.pixels()));
  raster->read(area, ids);
  std::vector<int16_t> result(ids.size(), ClassMap::ignored);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (std::isnan(ids[i])) continue;
    const std::optional<int16_t> index = classes_.index_of(ids[i]);
    if (index) result[i] = *index;
    require(index || config_.ignore_unlisted, ErrorKind::data,
            "{}: row {}, column {}: class id {} is not in the class map '{}' ({}); data.ignore_unlisted = "
            "true counts "
            "such pixels nowhere",
            raster->info().source, area.row + static_cast<int64_t>(i) / area.width,
            area.column + static_cast<int64_t>(i) % area.width, ids[i], classes_.name(), classes_.ids_text());
  }
  return result;
}

SceneWindow SceneSet::read(const SceneArea& area) const {
  SceneWindow window = read_image(area);
  window.labels = labels(area.file, area.area);
  return window;
}

SceneWindow SceneSet::read_image(const SceneArea& area) const {
  return read_window(*image(area.file), area.area, rule_);
}

}  // namespace modewise::data
