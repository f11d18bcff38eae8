#include "modewise/data/segmentation/augment.h"

#include <algorithm>
#include <cmath>

#include "modewise/data/segmentation/class_map.h"

namespace modewise::data {
namespace {

constexpr uint64_t kWordsAWindow = 16;

/// Copies a pixel (all dates) and its label.
void copy_pixel(const SceneWindow& from, int64_t from_row, int64_t from_column, SceneWindow& to, int64_t row,
                int64_t column) {
  for (int64_t t = 0; t < from.times; ++t) {
    const int64_t source = (t * from.height + from_row) * from.width + from_column;
    const int64_t target = (t * to.height + row) * to.width + column;
    std::copy_n(from.image.begin() + source * from.bands, from.bands, to.image.begin() + target * to.bands);
    to.valid[static_cast<size_t>(target)] = from.valid[static_cast<size_t>(source)];
  }
  if (!from.labels.empty())
    to.labels[static_cast<size_t>(row * to.width + column)] =
        from.labels[static_cast<size_t>(from_row * from.width + from_column)];
}

/// Random start of a crop of `size` on an axis of `length`; negative if the axis is shorter.
int64_t random_start(int64_t length, int64_t size, double u) {
  const double room = static_cast<double>(std::abs(length - size)) + 1;
  const auto start = static_cast<int64_t>(u * room);
  return length >= size ? start : -start;
}

SceneWindow shifted(const SceneWindow& tile, int64_t side, double u, double v) {
  SceneWindow out(tile.times, side, side, tile.bands, !tile.labels.empty());
  const int64_t top = random_start(tile.height, side, u), left = random_start(tile.width, side, v);
  for (int64_t row = std::max<int64_t>(0, -top); row < std::min(side, tile.height - top); ++row)
    for (int64_t column = std::max<int64_t>(0, -left); column < std::min(side, tile.width - left); ++column)
      copy_pixel(tile, row + top, column + left, out, row, column);
  return out;
}

/// Two interpolation neighbours and the weight of the second.
struct Neighbours {
  int64_t first, second, nearest;
  float weight;
};

std::vector<Neighbours> neighbours(double begin, double length, int64_t side, int64_t limit) {
  std::vector<Neighbours> result;
  for (int64_t i = 0; i < side; ++i) {
    const double place = begin + (static_cast<double>(i) + 0.5) * length / static_cast<double>(side) - 0.5;
    const double low = std::floor(place);
    const auto at = [&](double x) { return std::clamp<int64_t>(static_cast<int64_t>(x), 0, limit - 1); };
    result.push_back({at(low), at(low + 1), at(std::floor(place + 0.5)), static_cast<float>(place - low)});
  }
  return result;
}

SceneWindow resized(const SceneWindow& tile, double top, double left, double height, double width,
                    int64_t side) {
  SceneWindow out(tile.times, side, side, tile.bands, !tile.labels.empty());
  const auto rows = neighbours(top, height, side, tile.height),
             columns = neighbours(left, width, side, tile.width);
  for (int64_t r = 0; r < side; ++r)
    for (int64_t c = 0; c < side; ++c) {
      const Neighbours &row = rows[static_cast<size_t>(r)], &column = columns[static_cast<size_t>(c)];
      copy_pixel(tile, row.nearest, column.nearest, out, r, c);
      for (int64_t t = 0; t < tile.times; ++t) {
        const int64_t target = (t * side + r) * side + c;
        if (out.valid[static_cast<size_t>(target)] == 0) continue;
        const int64_t at[4] = {(t * tile.height + row.first) * tile.width + column.first,
                               (t * tile.height + row.first) * tile.width + column.second,
                               (t * tile.height + row.second) * tile.width + column.first,
                               (t * tile.height + row.second) * tile.width + column.second};
        float weights[4] = {(1 - row.weight) * (1 - column.weight), (1 - row.weight) * column.weight,
                            row.weight * (1 - column.weight), row.weight * column.weight};
        float total = 0;
        for (int i = 0; i < 4; ++i) {
          if (tile.valid[static_cast<size_t>(at[i])] == 0) weights[i] = 0;
          total += weights[i];
        }
        float* pixel = out.image.data() + target * tile.bands;
        for (int64_t band = 0; band < tile.bands; ++band) {
          float sum = 0;
          for (int i = 0; i < 4; ++i)
            if (weights[i] > 0)
              sum += weights[i] * tile.image[static_cast<size_t>(at[i] * tile.bands + band)];
          if (total > 0) pixel[band] = sum / total;
        }
      }
    }
  return out;
}

SceneWindow rotated(const SceneWindow& window, bool flip_rows, bool flip_columns, bool transpose) {
  if (!flip_rows && !flip_columns && !transpose) return window;
  SceneWindow out(window.times, window.height, window.width, window.bands, !window.labels.empty());
  const int64_t last = window.height - 1;
  for (int64_t r = 0; r <= last; ++r)
    for (int64_t c = 0; c <= last; ++c) {
      const int64_t row = flip_rows ? last - r : r, column = flip_columns ? last - c : c;
      copy_pixel(window, transpose ? column : row, transpose ? row : column, out, r, c);
    }
  return out;
}

}  // namespace

SceneWindow::SceneWindow(int64_t dates, int64_t rows, int64_t columns, int64_t channels, bool labelled)
    : times(dates),
      height(rows),
      width(columns),
      bands(channels),
      image(static_cast<size_t>(dates * rows * columns * channels)),
      valid(static_cast<size_t>(dates * rows * columns)),
      labels(static_cast<size_t>(labelled ? rows * columns : 0), ClassMap::ignored) {}

SceneWindow augmented(const SceneWindow& tile, const SegmentationAugmentConfig& config, int64_t side,
                      const RandomStream& stream, uint64_t place) {
  const auto draw = [&](uint64_t index) { return stream.uniform(place * kWordsAWindow + index); };
  SceneWindow window;
  if (config.crop < 1) {
    const double area = config.crop + (1 - config.crop) * draw(0);
    const double ratio = std::pow(config.stretch, 2 * draw(1) - 1);
    const auto full_height = static_cast<double>(tile.height), full_width = static_cast<double>(tile.width);
    const double height = std::min(full_height, std::sqrt(area / ratio * full_height * full_width)),
                 width = std::min(full_width, std::sqrt(area * ratio * full_height * full_width));
    window =
        resized(tile, draw(2) * (full_height - height), draw(3) * (full_width - width), height, width, side);
  } else {
    window = shifted(tile, side, draw(2), draw(3));
  }
  const bool flips = config.flips, rotations = config.rotations;
  // Row flip, column flip and transpose generate the eight symmetries of a square; rotations are the four of
  // them with an even number of reflections.
  bool rows = flips && draw(4) < 0.5, columns = flips && draw(5) < 0.5, transpose = false;
  if (rotations) {
    const auto quarters = static_cast<int>(4 * draw(6));
    transpose = quarters % 2 == 1;
    rows = rows != (quarters == 1 || quarters == 2);
    columns = columns != (quarters == 2 || quarters == 3);
  }
  return rotated(window, rows, columns, transpose);
}

}  // namespace modewise::data
