#pragma once
// Colours of figures. The qualitative colours on a light background are those of Okabe and Ito (2008) and an
// olive; those on a dark screen are similar. All are distinct with protanopia, deuteranopia and tritanopia.
// The sequential and diverging scales are straight lines in Oklab (Ottosson 2020), spaced by arc length, so
// they are perceptually uniform; lightness is monotone (sequential) or symmetric about the middle
// (diverging), which suits grey printing.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace modewise::report {

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Color&) const = default;
  /// `#rrggbb`.
  std::string hex() const;
};

/// Red, green and blue of each colour: pixels or the palette of an image.
std::vector<uint8_t> color_bytes(std::span<const Color> colors);

enum class ColorScale { sequential, diverging };

/// The colour at `position` in [0, 1] (clamped); 0 is the lightest of the sequential scale.
Color scale_color(ColorScale scale, double position);

/// Lightness in Oklab, 0 black to 1 white.
double lightness(Color color);

/// Number of qualitative colours; further series repeat them with another dash pattern.
inline constexpr int kSeriesColors = 7;
Color series_color(int index, bool dark = false);

}  // namespace modewise::report
