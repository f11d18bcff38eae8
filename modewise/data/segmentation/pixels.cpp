#include "modewise/data/segmentation/pixels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace modewise::data {
namespace {

constexpr int64_t kMaxValues = int64_t{1} << 22;  // values read at once

std::optional<double> nodata_of(const std::string& setting, const std::optional<double>& file) {
  if (setting == "auto") return file;
  if (setting == "none") return std::nullopt;
  return std::strtod(setting.c_str(), nullptr);
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
    factor.push_back(static_cast<float>(1 / rule.scale.stddev[static_cast<size_t>(band)]));
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

std::vector<PixelRect> in_parts(const PixelRect& area, int64_t values_a_pixel) {
  const int64_t rows = std::max<int64_t>(1, kMaxValues / std::max<int64_t>(1, area.width * values_a_pixel));
  std::vector<PixelRect> parts;
  for (int64_t row = 0; row < area.height; row += rows)
    parts.push_back({area.row + row, area.column, std::min(rows, area.height - row), area.width});
  return parts;
}

}  // namespace modewise::data
