#pragma once
// Class maps as PNG images: each class in its colour, with an optional legend next to the map.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/report/color.h"

namespace modewise::report {

struct LegendClass {
  std::string name;  // non-ASCII letters are drawn as '?'
  Color color;
};

/// RGB image, row-major.
struct Image {
  int64_t width = 0, height = 0;
  std::vector<Color> pixels;
};

/// Colour of pixels without a class.
inline constexpr Color kNoClass = {255, 255, 255};

/// A map of width × height class indices; indices without a class are white.
Image class_figure(int64_t width, int64_t height, std::span<const uint8_t> numbers,
                   std::span<const LegendClass> classes);
/// The map with a legend to its right: colour swatch and name of each class.
Image with_legend(const Image& map, std::span<const LegendClass> classes);

/// Encodes `figure` as PNG.
std::string to_png(const Image& figure);

}  // namespace modewise::report
