#include "modewise/report/color.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace modewise::report {
namespace {

struct Oklab {
  double l = 0, a = 0, b = 0;
};

double to_linear(uint8_t channel) {
  const double value = channel / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

uint8_t to_channel(double linear) {
  const double clamped = std::clamp(linear, 0.0, 1.0);
  const double value = clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * std::pow(clamped, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * value));
}

// Ottosson, "A perceptual color space for image processing" (2020), the matrices of its code listing.
Oklab to_oklab(Color color) {
  const double r = to_linear(color.red), g = to_linear(color.green), b = to_linear(color.blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Color from_oklab(const Oklab& lab) {
  const auto cube = [](double value) { return value * value * value; };
  const double l = cube(lab.l + 0.3963377774 * lab.a + 0.2158037573 * lab.b);
  const double m = cube(lab.l - 0.1055613458 * lab.a - 0.0638541728 * lab.b);
  const double s = cube(lab.l - 0.0894841775 * lab.a - 1.2914855480 * lab.b);
  return {to_channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          to_channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          to_channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

double distance(const Oklab& x, const Oklab& y) {
  return std::hypot(x.l - y.l, x.a - y.a, x.b - y.b);
}

// The colour at a fraction of the length of the polyline through `anchors`.
Color along(std::span<const Color> anchors, double position) {
  double total = 0;
  for (size_t i = 1; i < anchors.size(); ++i)
    total += distance(to_oklab(anchors[i - 1]), to_oklab(anchors[i]));
  double rest = position * total;
  for (size_t i = 1; i < anchors.size(); ++i) {
    const Oklab from = to_oklab(anchors[i - 1]), to = to_oklab(anchors[i]);
    const double length = distance(from, to);
    if (rest <= length || i + 1 == anchors.size()) {
      const double t = std::min(1.0, rest / length);
      return from_oklab(
          {from.l + t * (to.l - from.l), from.a + t * (to.a - from.a), from.b + t * (to.b - from.b)});
    }
    rest -= length;
  }
  return anchors.back();
}

constexpr std::array<Color, 5> kSequential = {
    {{251, 250, 240}, {190, 224, 190}, {66, 166, 180}, {38, 92, 156}, {22, 26, 78}}};
// Both arms start from the same near-white and end at the same lightness.
constexpr std::array<Color, 3> kCold = {{{246, 246, 246}, {124, 172, 216}, {22, 76, 140}}};
constexpr std::array<Color, 3> kWarm = {{{246, 246, 246}, {232, 148, 118}, {140, 34, 26}}};

constexpr std::array<Color, kSeriesColors> kOnLight = {{{0, 114, 178},
                                                        {213, 94, 0},
                                                        {0, 158, 115},
                                                        {204, 121, 167},
                                                        {230, 159, 0},
                                                        {86, 180, 233},
                                                        {74, 80, 16}}};
constexpr std::array<Color, kSeriesColors> kOnDark = {{{76, 141, 238},
                                                       {255, 150, 21},
                                                       {58, 204, 134},
                                                       {196, 166, 219},
                                                       {240, 224, 0},
                                                       {166, 231, 255},
                                                       {135, 139, 89}}};

}  // namespace

std::string Color::hex() const {
  return fmt::format("#{:02x}{:02x}{:02x}", red, green, blue);
}

std::vector<uint8_t> color_bytes(std::span<const Color> colors) {
  std::vector<uint8_t> bytes;
  bytes.reserve(3 * colors.size());
  for (const Color color : colors) bytes.insert(bytes.end(), {color.red, color.green, color.blue});
  return bytes;
}

Color scale_color(ColorScale scale, double position) {
  const double p = std::isnan(position) ? 0 : std::clamp(position, 0.0, 1.0);
  if (scale == ColorScale::sequential) return along(kSequential, p);
  return p < 0.5 ? along(kCold, 1 - 2 * p) : along(kWarm, 2 * p - 1);
}

double lightness(Color color) {
  return to_oklab(color).l;
}

Color series_color(int index, bool dark) {
  const auto i = static_cast<size_t>(((index % kSeriesColors) + kSeriesColors) % kSeriesColors);
  return dark ? kOnDark[i] : kOnLight[i];
}

}  // namespace modewise::report
