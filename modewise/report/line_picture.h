#pragma once
// Curves as a small PNG without axes, for consumers without SVG such as TensorBoard.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/report/color.h"

namespace modewise::report {

/// y at x = first, first + 1, …; non-finite values are gaps.
struct ImageCurve {
  int64_t first = 0;
  std::vector<double> y;
  Color color;
  int64_t thickness = 1;  // pixel rows, downwards
};

/// The area between two curves of equal length.
struct ImageBand {
  int64_t first = 0;
  std::vector<double> lower, upper;
  Color color;
};

/// Draws width × height pixels with at most 255 colours: bands, then curves, each in order. x = 0 is the
/// leftmost pixel column, the largest x the rightmost; the range of all y fills the height. Without finite
/// values the image is empty.
std::string line_figure(int64_t width, int64_t height, const std::vector<ImageBand>& bands,
                        const std::vector<ImageCurve>& curves);

}  // namespace modewise::report
