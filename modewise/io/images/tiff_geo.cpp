// Transform and coordinate reference system from the tags of GeoTIFF 1.1 (OGC 19-008).

#include <cmath>
#include <optional>

#include "modewise/io/images/tiff.h"

namespace modewise::io {
namespace {

constexpr uint16_t kRasterType = 1025, kCitation = 1026, kGeographic = 2048, kGeographicCitation = 2049,
                   kProjected = 3072, kProjectedCitation = 3073;
constexpr uint16_t kPixelIsPoint = 2, kUserDefined = 32767, kInKeyText = 34737;

struct Key {
  uint16_t place = 0, count = 0, value = 0;  // place 0: the value itself; otherwise the tag with the values
};

// Keys are groups of four after a header of four whose last number is their count; a damaged list has fewer.
std::optional<Key> find_key(const std::vector<uint16_t>& keys, uint16_t id) {
  if (keys.size() < 4) return std::nullopt;
  for (size_t i = 1; i <= keys[3] && 4 * i + 3 < keys.size(); ++i) {
    if (keys[4 * i] == id) return Key{keys[4 * i + 1], keys[4 * i + 2], keys[4 * i + 3]};
  }
  return std::nullopt;
}

std::optional<uint16_t> code_of(const std::vector<uint16_t>& keys, uint16_t id) {
  const std::optional<Key> key = find_key(keys, id);
  if (!key || key->place != 0 || key->value == 0 || key->value == kUserDefined) return std::nullopt;
  return key->value;
}

}  // namespace

std::array<double, 6> GeoReference::transform() const {
  std::array<double, 6> t = {1, 0, 0, 0, 1, 0};
  if (pixel_scale.size() >= 2 && tie_points.size() >= 6) {
    const double a = pixel_scale[0], e = -std::abs(pixel_scale[1]);
    t = {a, 0, tie_points[3] - tie_points[0] * a, 0, e, tie_points[4] - tie_points[1] * e};
  } else if (transformation.size() == 16) {
    t = {transformation[0], transformation[1], transformation[3],
         transformation[4], transformation[5], transformation[7]};
  } else {
    return t;
  }
  const std::optional<Key> raster = find_key(keys, kRasterType);
  if (raster && raster->place == 0 && raster->value == kPixelIsPoint) {
    t[2] -= 0.5 * (t[0] + t[1]);
    t[5] -= 0.5 * (t[3] + t[4]);
  }
  return t;
}

std::string GeoReference::crs_text() const {
  for (const uint16_t id : {kProjected, kGeographic}) {
    // A user-defined projected system is named by its citation, not by its geographic base.
    if (const auto code = code_of(keys, id)) return "EPSG:" + std::to_string(*code);
    if (find_key(keys, id)) break;
  }
  for (const uint16_t id : {kProjectedCitation, kCitation, kGeographicCitation}) {
    const std::optional<Key> key = find_key(keys, id);
    if (!key || key->place != kInKeyText || key->value >= key_text.size()) continue;
    std::string text = key_text.substr(key->value, key->count);
    while (!text.empty() && text.back() == '|') text.pop_back();
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace modewise::io
