#include "modewise/io/images/image_resize.h"

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"

namespace modewise::io {
namespace {

/// For each new pixel along one axis: the first old pixel and the weights, which sum to 1.
struct Weights {
  std::vector<int64_t> first;
  std::vector<std::vector<double>> of;
};

double weight_at(double distance, ResizeFilter filter) {
  if (filter == ResizeFilter::box) return distance > -0.5 && distance <= 0.5 ? 1 : 0;
  return std::max(0.0, 1 - std::abs(distance));
}

Weights weights_along(int64_t size, double begin, double length, int64_t wanted, ResizeFilter filter) {
  const double scale = length / static_cast<double>(wanted), stretch = std::max(scale, 1.0);
  const double reach = stretch * (filter == ResizeFilter::box ? 0.5 : 1);
  Weights weights;
  for (int64_t i = 0; i < wanted; ++i) {
    const double centre = begin + (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<int64_t>(static_cast<int64_t>(centre - reach + 0.5), 0);
    const auto last = std::min<int64_t>(static_cast<int64_t>(centre + reach + 0.5), size);
    std::vector<double> values;
    double sum = 0;
    for (int64_t j = first; j < last; ++j) {
      values.push_back(weight_at((static_cast<double>(j) + 0.5 - centre) / stretch, filter));
      sum += values.back();
    }
    for (double& value : values) value /= sum;
    weights.first.push_back(first);
    weights.of.push_back(std::move(values));
  }
  return weights;
}

/// Row `y` of the image with its new width.
void shrink_row(const Image& image, int64_t y, const Weights& weights, std::span<double> out) {
  const int64_t channels = image.channels;
  const uint8_t* row = image.pixels.data() + y * image.width * channels;
  size_t to = 0;
  for (size_t x = 0; x < weights.of.size(); ++x) {
    const uint8_t* from = row + weights.first[x] * channels;
    for (int64_t c = 0; c < channels; ++c, ++to) {
      double sum = 0;
      for (size_t j = 0; j < weights.of[x].size(); ++j)
        sum += weights.of[x][j] * from[static_cast<int64_t>(j) * channels + c];
      out[to] = sum;
    }
  }
}

uint8_t rounded(double value) {
  return static_cast<uint8_t>(std::clamp(std::floor(value + 0.5), 0.0, 255.0));
}

}  // namespace

Image resized(const Image& image, const ImageBox& box, int64_t height, int64_t width, ResizeFilter filter) {
  require_pixels(image, "resized");
  require(height > 0 && width > 0 && box.height > 0 && box.width > 0 && box.top >= 0 && box.left >= 0 &&
              box.top + box.height <= static_cast<double>(image.height) &&
              box.left + box.width <= static_cast<double>(image.width),
          ErrorKind::internal, "resized: {} x {} pixels cannot come from {} x {} at {}, {} of {} x {}",
          height, width, box.height, box.width, box.top, box.left, image.height, image.width);
  const Weights across = weights_along(image.width, box.left, box.width, width, filter);
  const Weights down = weights_along(image.height, box.top, box.height, height, filter);
  const int64_t first = down.first.front(), last = down.first.back() + std::ssize(down.of.back());
  const auto row = static_cast<size_t>(width * image.channels);
  std::vector<double> narrow(static_cast<size_t>(last - first) * row);
  for (int64_t y = first; y < last; ++y)
    shrink_row(image, y, across, std::span(narrow).subspan(static_cast<size_t>(y - first) * row, row));
  Image out{height, width, image.channels, {}};
  out.pixels.resize(static_cast<size_t>(height) * row);
  std::vector<double> sums(row);
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (size_t j = 0; j < down.of[y].size(); ++j) {
      const double* from = narrow.data() + (static_cast<size_t>(down.first[y] - first) + j) * row;
      for (size_t i = 0; i < row; ++i) sums[i] += down.of[y][j] * from[i];
    }
    for (size_t i = 0; i < row; ++i) out.pixels[y * row + i] = rounded(sums[i]);
  }
  return out;
}

Image resized(const Image& image, int64_t height, int64_t width, ResizeFilter filter) {
  const ImageBox all{0, 0, static_cast<double>(image.height), static_cast<double>(image.width)};
  return resized(image, all, height, width, filter);
}

Image fitted(const Image& image, int64_t height, int64_t width) {
  const auto old_height = static_cast<double>(image.height), old_width = static_cast<double>(image.width);
  const double shape = static_cast<double>(width) / static_cast<double>(height);
  ImageBox box{0, 0, old_height, old_width};
  if (old_width > old_height * shape) {
    box.width = old_height * shape;
    box.left = (old_width - box.width) / 2;
  } else {
    box.height = old_width / shape;
    box.top = (old_height - box.height) / 2;
  }
  // Rounding must not move the far edges outside.
  box.height = std::min(box.height, old_height - box.top);
  box.width = std::min(box.width, old_width - box.left);
  return resized(image, box, height, width);
}

}  // namespace modewise::io
