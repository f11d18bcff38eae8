#pragma once
// Curves as a small PNG without axes, for what takes pictures and no SVG.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/report/color.h"

namespace modewise::report {

/// y at x = first, first + 1, …; what is not finite breaks it.
struct ImageCurve {
  int64_t first = 0;
  std::vector<double> y;
  Color color;
  int64_t thickness = 1;  // rows of pixels, downwards
};

/// The area between two curves of equal length.
struct ImageBand {
  int64_t first = 0;
  std::vector<double> lower, upper;
  Color color;
};

/// width × height pixels of at most 255 colours: bands, then curves, each in their order. x = 0 is the
/// leftmost column of pixels, the largest x the rightmost; the range of all y fills the height. Nothing
/// finite: an empty picture.
std::string line_figure(int64_t width, int64_t height, const std::vector<ImageBand>& bands,
                         const std::vector<ImageCurve>& curves);

}  // namespace modewise::report
