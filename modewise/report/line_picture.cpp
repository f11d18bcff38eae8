#include "modewise/report/line_picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "modewise/io/images/png.h"

namespace modewise::report {
namespace {

class Pixels {
 public:
  Pixels(int64_t width, int64_t height)
      : width_(width), height_(height), pixels_(static_cast<size_t>(width * height)) {}

  /// Extends the ranges of x and y.
  void include(int64_t first, const std::vector<double>& y) {
    last_ = std::max(last_, first + static_cast<int64_t>(y.size()) - 1);
    for (const double value : y)
      if (std::isfinite(value)) {
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
      }
  }

  double column(double x) const { return last_ > 0 ? x / static_cast<double>(last_) * (width_ - 1.0) : 0; }
  double row(double y) const {
    return high_ > low_ ? (high_ - y) / (high_ - low_) * (height_ - 1.0) : height_ / 2.0;
  }

  /// Paints a pixel column from one height to another, and `thickness` − 1 pixels below.
  void paint(int64_t column, double from, double to, Color color, int64_t thickness = 1) {
    const int64_t top = std::lround(std::min(from, to));
    const int64_t bottom = std::min<int64_t>(std::lround(std::max(from, to)) + thickness - 1, height_ - 1);
    const uint8_t index = index_of(color);
    for (int64_t y = top; y <= bottom; ++y) pixels_[static_cast<size_t>(y * width_ + column)] = index;
  }

  std::string png() const {
    return io::format_palette_png({height_, width_, 1, pixels_}, color_bytes(palette_));
  }

 private:
  uint8_t index_of(Color color) {
    const auto found = std::find(palette_.begin(), palette_.end(), color);
    const auto index = static_cast<uint8_t>(found - palette_.begin());
    if (found == palette_.end()) palette_.push_back(color);
    return index;
  }

  int64_t width_, height_, last_ = 0;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
  std::vector<uint8_t> pixels_;
  std::vector<Color> palette_ = {{255, 255, 255}};
};

/// Visits the pixel columns between two neighbouring points, both ends included, with their fractions of the
/// distance.
template <class Visit>
void between(const Pixels& pixels, int64_t x, Visit&& visit) {
  const double left = pixels.column(static_cast<double>(x)),
               right = pixels.column(static_cast<double>(x + 1));
  for (int64_t column = std::lround(left); column <= std::lround(right); ++column)
    visit(column, std::clamp((column - left) / (right - left), 0.0, 1.0));
}

double mix(double a, double b, double share) {
  return a + (b - a) * share;
}

void draw(Pixels& pixels, const ImageBand& band) {
  for (size_t i = 0; i + 1 < std::min(band.lower.size(), band.upper.size()); ++i) {
    const double ends[] = {band.lower[i], band.lower[i + 1], band.upper[i], band.upper[i + 1]};
    if (!std::ranges::all_of(ends, [](double y) { return std::isfinite(y); })) continue;
    between(pixels, band.first + static_cast<int64_t>(i), [&](int64_t column, double share) {
      pixels.paint(column, pixels.row(mix(ends[0], ends[1], share)), pixels.row(mix(ends[2], ends[3], share)),
                   band.color);
    });
  }
}

void draw(Pixels& pixels, const ImageCurve& curve) {
  for (size_t i = 0; i + 1 < curve.y.size(); ++i) {
    if (!std::isfinite(curve.y[i]) || !std::isfinite(curve.y[i + 1])) continue;
    const double from = pixels.row(curve.y[i]), to = pixels.row(curve.y[i + 1]);
    double before = from;
    between(pixels, curve.first + static_cast<int64_t>(i), [&](int64_t column, double share) {
      const double here = mix(from, to, share);
      pixels.paint(column, before, here, curve.color, curve.thickness);
      before = here;
    });
  }
}

}  // namespace

std::string line_figure(int64_t width, int64_t height, const std::vector<ImageBand>& bands,
                        const std::vector<ImageCurve>& curves) {
  Pixels pixels(width, height);
  for (const ImageBand& band : bands) {
    pixels.include(band.first, band.lower);
    pixels.include(band.first, band.upper);
  }
  for (const ImageCurve& curve : curves) pixels.include(curve.first, curve.y);
  for (const ImageBand& band : bands) draw(pixels, band);
  for (const ImageCurve& curve : curves) draw(pixels, curve);
  return pixels.png();
}

}  // namespace modewise::report
