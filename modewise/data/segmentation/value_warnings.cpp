// Comparison of the values of an image with those that a run was trained on.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "modewise/data/fill_values.h"
#include "modewise/data/segmentation/pixels.h"

namespace modewise::data {
namespace {

constexpr int64_t kMaxParts = 16;   // parts of an image that are read, evenly spaced
constexpr double kFar = 10;         // mean distance from the mean of the training, in its standard deviations
constexpr double kNear = 1.0 / 50;  // largest magnitude, relative to that of the training

/// Values of a band.
struct BandValues {
  FillValues fills;
  double distance = 0;  // sum of distances from the mean of the training
  double min = std::numeric_limits<double>::infinity(), max = -min;

  void see(double value, double mean) {
    fills.see(value, 0);
    distance += std::abs(value - mean);
    min = std::min(min, value);
    max = std::max(max, value);
  }
  /// Whether `count` values plainly have another scale than those with this mean and standard deviation.
  bool is_other_scale(double count, double mean, double stddev) const {
    const double magnitude = std::max(std::abs(min), std::abs(max));
    return distance > kFar * stddev * count || (min < max && magnitude <= kNear * std::hypot(mean, stddev));
  }
};

/// About kMaxParts of the parts that are read at once.
std::vector<PixelRect> read_parts(const RasterInfo& info) {
  const std::vector<PixelRect> all = in_parts({0, 0, info.height, info.width}, info.times * info.bands);
  const auto n = std::ssize(all), count = std::min<int64_t>(n, kMaxParts);
  std::vector<PixelRect> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back(all[static_cast<size_t>(i * n / count)]);
  return parts;
}

}  // namespace

std::vector<std::string> value_warnings(const Raster& image, const PixelRule& rule) {
  const RasterInfo& info = image.info();
  const BandScale& scale = rule.scale;
  const size_t bands = rule.bands.size();
  PixelRule plain = rule;
  plain.scale = {std::vector<double>(bands, 0), std::vector<double>(bands, 1)};
  std::vector<BandValues> values(bands);
  double count = 0;
  for (const PixelRect& part : read_parts(info)) {
    const SceneWindow window = read_window(image, part, plain);
    for (size_t pixel = 0; pixel < window.valid.size(); ++pixel) {
      if (window.valid[pixel] == 0) continue;
      count += 1;
      for (size_t band = 0; band < bands; ++band)
        values[band].see(window.image[pixel * bands + band], scale.mean[band]);
    }
  }
  std::vector<std::string> warnings;
  std::vector<size_t> others;
  const bool scaled = scale.mean != plain.scale.mean || scale.stddev != plain.scale.stddev;
  for (size_t band = 0; band < bands; ++band) {
    const std::vector<FillValues::Found> fills = values[band].fills.found();
    for (const FillValues::Found& fill : fills)
      warnings.push_back(
          fmt::format("{0}: {1} pixels have {2} in band {3}, which usually stands for a missing value: the "
                      "nodata value {2} "
                      "of the file (gdal_edit.py -a_nodata), or NaN in an NPY array, treats them as missing",
                      info.source, fill.count, fill_text(fill.value), rule.bands[band]));
    if (fills.empty() && scaled && values[band].is_other_scale(count, scale.mean[band], scale.stddev[band]))
      others.push_back(band);
  }
  if (others.empty()) return warnings;
  const size_t first = others.front();
  warnings.push_back(
      fmt::format("{}: {} of {} bands plainly {} another scale than in the training images: band {} has "
                  "values from {:.6g} "
                  "to {:.6g}, from which the run subtracts {:.6g} before it divides by {:.6g}; it expects "
                  "values as stored in "
                  "its training images",
                  info.source, others.size(), bands, others.size() == 1 ? "has" : "have", rule.bands[first],
                  values[first].min, values[first].max, scale.mean[first], scale.stddev[first]));
  return warnings;
}

}  // namespace modewise::data
