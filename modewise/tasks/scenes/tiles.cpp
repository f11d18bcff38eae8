#include "modewise/tasks/scenes/tiles.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/train/task.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kMostStripValues = int64_t{1} << 24;  // of a part of a strip that is read at once: 64 MB

/// Pixels that neighbouring windows share along a side; each window has one of its own at least, so that the
/// next one lies further on.
int64_t shared_pixels(double overlap, int64_t window) {
  require(overlap >= 0 && overlap < 1, ErrorKind::config,
          "segment.overlap must be a share of the window, from 0 to below 1, got {}", overlap);
  return std::min<int64_t>(std::llround(overlap * static_cast<double>(window)), window - 1);
}

/// Starts of windows along `length`: steps of `step`, the last one flush with the end.
std::vector<int64_t> window_starts(int64_t length, int64_t window, int64_t step) {
  std::vector<int64_t> starts = {0};
  while (starts.back() + window < length) starts.push_back(std::min(starts.back() + step, length - window));
  return starts;
}

/// Weights along a side: rising over the overlap to 1, never 0.
std::vector<float> side_weights(int64_t window, int64_t overlap) {
  std::vector<float> weights;
  for (int64_t i = 0; i < window; ++i) {
    const double edge = static_cast<double>(std::min(i, window - 1 - i)) + 0.5;
    weights.push_back(
        static_cast<float>(std::min(1.0, edge / static_cast<double>(std::max<int64_t>(overlap, 1)))));
  }
  return weights;
}

/// Sums over the rows that windows still reach.
class Blend {
 public:
  Blend(int64_t rows, int64_t width, int64_t classes)
      : rows_(rows),
        width_(width),
        classes_(classes),
        sums_(static_cast<size_t>(rows * width * classes)),
        weights_(static_cast<size_t>(rows * width)) {}

  /// logits [N, N, C] of the window whose first column is `column`; what reaches beyond the area is left out.
  void add(const float* logits, int64_t window, int64_t column, const std::vector<float>& side) {
    const int64_t columns = std::min(window, width_ - column);
    at::parallel_for(0, std::min(window, rows_), 8, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t c = 0; c < columns; ++c) {
          const float weight = side[static_cast<size_t>(row)] * side[static_cast<size_t>(c)];
          const int64_t pixel = row * width_ + column + c;
          weights_[static_cast<size_t>(pixel)] += weight;
          const float* from = logits + (row * window + c) * classes_;
          float* to = sums_.data() + pixel * classes_;
          for (int64_t k = 0; k < classes_; ++k) to[k] += weight * from[k];
        }
    });
  }

  /// The first `count` rows as means; they are then forgotten and the others move up.
  std::vector<float> finish(int64_t count) {
    std::vector<float> means(sums_.begin(), sums_.begin() + count * width_ * classes_);
    for (int64_t pixel = 0; pixel < count * width_; ++pixel)
      if (const float weight = weights_[static_cast<size_t>(pixel)]; weight > 0)
        for (int64_t k = 0; k < classes_; ++k) means[static_cast<size_t>(pixel * classes_ + k)] /= weight;
    shift(sums_, count * width_ * classes_);
    shift(weights_, count * width_);
    return means;
  }

 private:
  static void shift(std::vector<float>& values, int64_t count) {
    std::move(values.begin() + count, values.end(), values.begin());
    std::fill(values.end() - count, values.end(), 0.0F);
  }

  int64_t rows_, width_, classes_;
  std::vector<float> sums_, weights_;
};

/// Copies the window at `row`, `column` of `strip` into place `index` of a batch; returns whether any pixel
/// is valid.
bool copy_window(const data::SceneWindow& strip, int64_t column, int64_t window, float* image, bool* valid) {
  bool any = false;
  const int64_t columns = std::min(window, strip.width - column), rows = std::min(window, strip.height);
  for (int64_t t = 0; t < strip.times; ++t)
    for (int64_t row = 0; row < window; ++row, image += window * strip.bands, valid += window) {
      const bool inside = row < rows;
      if (inside) {
        const int64_t from = (t * strip.height + row) * strip.width + column;
        std::copy_n(strip.image.begin() + from * strip.bands, columns * strip.bands, image);
        for (int64_t c = 0; c < columns; ++c)
          any = (valid[c] = strip.valid[static_cast<size_t>(from + c)] != 0) || any;
      }
      const int64_t filled = inside ? columns : 0;
      std::fill(image + filled * strip.bands, image + window * strip.bands, 0.0F);
      std::fill(valid + filled, valid + window, false);
    }
  return any;
}

class AreaClassifier {
 public:
  AreaClassifier(models::Segmenter& model, const data::PixelRect& area, const TileOptions& options,
                 const AreaReader& read, const RowTaker& take)
      : model_(model),
        shape_(model.shape()),
        area_(area),
        options_(options),
        read_(read),
        take_(take),
        overlap_(shared_pixels(options.overlap, shape_.window)),
        side_(side_weights(shape_.window, overlap_)),
        columns_(window_starts(area.width, shape_.window, shape_.window - overlap_)),
        blend_(std::min(shape_.window, area.height), area.width, shape_.classes),
        valid_(static_cast<size_t>(std::min(shape_.window, area.height) * area.width)) {}

  void run() {
    const at::NoGradGuard no_grad;
    const std::vector<int64_t> rows = window_starts(area_.height, shape_.window, shape_.window - overlap_);
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t height = std::min(shape_.window, area_.height - rows[i]);
      classify_strip(rows[i], height);
      const int64_t done = i + 1 < rows.size() ? rows[i + 1] - rows[i] : height;
      const std::vector<float> logits = blend_.finish(done);
      take_({rows[i], done, logits, std::span(valid_).first(static_cast<size_t>(done * area_.width))});
    }
  }

 private:
  /// All windows whose first row is `row`, in parts of a bounded number of columns.
  void classify_strip(int64_t row, int64_t height) {
    const int64_t most_columns = std::max(
        shape_.window, kMostStripValues / std::max<int64_t>(1, height * shape_.times * shape_.bands));
    for (size_t first = 0; first < columns_.size();) {
      size_t last = first + 1;
      while (last < columns_.size() && columns_[last] + shape_.window - columns_[first] <= most_columns)
        ++last;
      const int64_t begin = columns_[first], end = std::min(area_.width, columns_[last - 1] + shape_.window);
      const data::SceneWindow strip = read_({area_.row + row, area_.column + begin, height, end - begin});
      note_valid(strip, begin);
      for (size_t window = first; window < last; window += static_cast<size_t>(options_.batch))
        classify(strip, begin,
                 std::span(columns_).subspan(window,
                                             std::min(static_cast<size_t>(options_.batch), last - window)));
      first = last;
    }
  }

  void note_valid(const data::SceneWindow& strip, int64_t begin) {
    for (int64_t row = 0; row < strip.height; ++row)
      for (int64_t column = 0; column < strip.width; ++column) {
        uint8_t any = 0;
        for (int64_t t = 0; t < strip.times; ++t)
          any |= strip.valid[static_cast<size_t>((t * strip.height + row) * strip.width + column)];
        valid_[static_cast<size_t>(row * area_.width + begin + column)] = any;
      }
  }

  void classify(const data::SceneWindow& strip, int64_t begin, std::span<const int64_t> columns) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    const int64_t n = shape_.window, pixels = shape_.times * n * n;
    at::Tensor image =
        at::empty({static_cast<int64_t>(columns.size()), shape_.times, n, n, shape_.bands}, at::kFloat);
    at::Tensor valid = at::empty({static_cast<int64_t>(columns.size()), shape_.times, n, n}, at::kBool);
    std::vector<int64_t> kept;  // windows without any valid pixel need no answer
    for (const int64_t column : columns) {
      const auto place = static_cast<int64_t>(kept.size());
      if (copy_window(strip, column - begin, n,
                      image.mutable_data_ptr<float>() + place * pixels * shape_.bands,
                      valid.mutable_data_ptr<bool>() + place * pixels))
        kept.push_back(column);
    }
    if (kept.empty()) return;
    const auto count = static_cast<int64_t>(kept.size());
    image = image.narrow(0, 0, count);
    valid = valid.narrow(0, 0, count);
    const bool complete =
        std::all_of(valid.const_data_ptr<bool>(), valid.const_data_ptr<bool>() + valid.numel(),
                    [](bool one) { return one; });
    const at::Tensor logits =
        model_.forward({image, complete ? at::Tensor() : valid}).to(at::kFloat).contiguous();
    for (int64_t i = 0; i < count; ++i)
      blend_.add(logits.const_data_ptr<float>() + i * n * n * shape_.classes, n, kept[static_cast<size_t>(i)],
                 side_);
  }

  models::Segmenter& model_;
  const models::SceneShape& shape_;
  const data::PixelRect area_;
  const TileOptions options_;
  const AreaReader& read_;
  const RowTaker& take_;
  const int64_t overlap_;
  const std::vector<float> side_;
  const std::vector<int64_t> columns_;
  Blend blend_;
  std::vector<uint8_t> valid_;
};

}  // namespace

void classify_area(models::Segmenter& model, const data::PixelRect& area, const TileOptions& options,
                   const AreaReader& read, const RowTaker& take) {
  AreaClassifier(model, area, options, read, take).run();
}

void highest_classes(std::span<const float> logits, int64_t classes, std::span<int16_t> out) {
  for (size_t pixel = 0; pixel < out.size(); ++pixel) {
    const float* values = logits.data() + static_cast<int64_t>(pixel) * classes;
    out[pixel] = static_cast<int16_t>(std::max_element(values, values + classes) - values);
  }
}

}  // namespace modewise::tasks
