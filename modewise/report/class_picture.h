#pragma once
// Maps of classes as pictures: each class in its colour, with a legend drawn beside the map, so that a PNG
// says by itself what it shows.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/report/color.h"

namespace modewise::report {

struct LegendClass {
  std::string name;  // letters outside ASCII are drawn as '?'
  Color color;
};

/// Pixels of a picture, row-major.
struct Image {
  int64_t width = 0, height = 0;
  std::vector<Color> pixels;
};

/// What stands where a map says nothing.
inline constexpr Color kNoClass = {255, 255, 255};

/// A map of width × height class numbers; those without a class are white.
Image class_figure(int64_t width, int64_t height, std::span<const uint8_t> numbers,
                      std::span<const LegendClass> classes);
/// The picture with the legend to its right: a field in each class's colour and its name.
Image with_legend(const Image& map, std::span<const LegendClass> classes);

/// `picture` as PNG.
std::string to_png(const Image& figure);

}  // namespace modewise::report
