#include "modewise/tasks/segmentation/tiles.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/train/distributed/distribute.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kMaxPartValues = int64_t{1} << 24;  // values of a strip part, read or computed: 64 MB

/// Overlap of neighbouring windows in pixels, at most the window minus one.
int64_t shared_pixels(double overlap, int64_t window) {
  require(overlap >= 0 && overlap < 1, ErrorKind::config, "segment.overlap must be from 0 to below 1, got {}",
          overlap);
  return std::min<int64_t>(std::llround(overlap * static_cast<double>(window)), window - 1);
}

/// Window starts along `length` with stride `step`; the last window ends at the end.
std::vector<int64_t> window_starts(int64_t length, int64_t window, int64_t step) {
  std::vector<int64_t> starts = {0};
  while (starts.back() + window < length) starts.push_back(std::min(starts.back() + step, length - window));
  return starts;
}

/// Blending weights along a side: rise over the overlap to 1, never 0.
std::vector<float> side_weights(int64_t window, int64_t overlap) {
  std::vector<float> weights;
  for (int64_t i = 0; i < window; ++i) {
    const double edge = static_cast<double>(std::min(i, window - 1 - i)) + 0.5;
    weights.push_back(
        static_cast<float>(std::min(1.0, edge / static_cast<double>(std::max<int64_t>(overlap, 1)))));
  }
  return weights;
}

/// Blended sums of rows that are not finished.
class Blend {
 public:
  Blend(int64_t rows, int64_t width, int64_t classes)
      : rows_(rows),
        width_(width),
        classes_(classes),
        sums_(static_cast<size_t>(rows * width * classes)),
        weights_(static_cast<size_t>(rows * width)) {}

  /// Adds logits [N, N, C] of the window at `column`, without pixels outside the area.
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

  /// Returns and removes the means of the first `count` rows.
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

/// Copies the window at `column` of `strip` to a batch; returns whether any pixel is valid.
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

/// Adjacent windows of one strip that a process reads and classifies at once.
struct StripPart {
  int64_t row = 0, height = 0;       // rows of the strip in the area
  std::span<const int64_t> columns;  // window starts
  bool last = false;                 // whether it is the last part of its strip
};

/// A classified part.
struct ClassifiedPart {
  at::Tensor valid;    // [height, width] uint8: whether any date has data
  at::Tensor columns;  // [W] int64: starts of windows with data
  at::Tensor logits;   // [W, N, N, C] of these windows
};

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
        rows_(window_starts(area.height, shape_.window, shape_.window - overlap_)) {
    for (const int64_t row : rows_) add_strip(row);
  }

  void run(train::Workers& workers) {
    if (workers.is_rank_zero()) {
      const int64_t rows = std::min(shape_.window, area_.height);
      blend_.emplace(rows, area_.width, shape_.classes);
      valid_.resize(static_cast<size_t>(rows * area_.width));
    }
    const auto part = [&](int64_t index) -> const StripPart& { return parts_[static_cast<size_t>(index)]; };
    const auto make = [&](int64_t index) -> train::Tensors {
      ClassifiedPart made = classify(part(index));
      return {std::move(made.valid), std::move(made.columns), std::move(made.logits)};
    };
    const auto take = [&](int64_t index, const train::Tensors& made) {
      blend(part(index), {made[0], made[1], made[2]});
    };
    train::distribute(workers, std::ssize(parts_), make, take);
  }

 private:
  void add_strip(int64_t row) {
    const int64_t n = shape_.window, height = std::min(n, area_.height - row);
    const int64_t max_columns =
        std::max(n, kMaxPartValues / std::max<int64_t>(1, height * shape_.times * shape_.bands));
    const auto max_windows =
        static_cast<size_t>(std::max<int64_t>(1, kMaxPartValues / (n * n * shape_.classes)));
    for (size_t first = 0; first < columns_.size();) {
      size_t last = first + 1;
      while (last < columns_.size() && last - first < max_windows &&
             columns_[last] + n - columns_[first] <= max_columns)
        ++last;
      parts_.push_back(
          {row, height, std::span(columns_).subspan(first, last - first), last == columns_.size()});
      first = last;
    }
  }

  ClassifiedPart classify(const StripPart& part) const {
    const at::NoGradGuard no_grad;
    const int64_t begin = part.columns.front(),
                  end = std::min(area_.width, part.columns.back() + shape_.window);
    const data::SceneWindow strip =
        read_({area_.row + part.row, area_.column + begin, part.height, end - begin});
    std::vector<int64_t> kept;
    std::vector<at::Tensor> logits = {
        at::empty({0, shape_.window, shape_.window, shape_.classes}, at::kFloat)};
    const auto batch = static_cast<size_t>(options_.batch);
    for (size_t first = 0; first < part.columns.size(); first += batch) {
      const at::Tensor given = classify(
          strip, begin, part.columns.subspan(first, std::min(batch, part.columns.size() - first)), kept);
      if (given.defined()) logits.push_back(given);
    }
    return {any_date(strip), at::tensor(kept, at::kLong), at::cat(logits)};
  }

  /// Logits of the windows at `columns` with valid pixels, whose starts are stored in `kept`; undefined if
  /// there are none.
  at::Tensor classify(const data::SceneWindow& strip, int64_t begin, std::span<const int64_t> columns,
                      std::vector<int64_t>& kept) const {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    const int64_t n = shape_.window, pixels = shape_.times * n * n;
    at::Tensor image =
        at::empty({static_cast<int64_t>(columns.size()), shape_.times, n, n, shape_.bands}, at::kFloat);
    at::Tensor valid = at::empty({static_cast<int64_t>(columns.size()), shape_.times, n, n}, at::kBool);
    int64_t count = 0;
    for (const int64_t column : columns) {
      if (!copy_window(strip, column - begin, n,
                       image.mutable_data_ptr<float>() + count * pixels * shape_.bands,
                       valid.mutable_data_ptr<bool>() + count * pixels))
        continue;
      kept.push_back(column);
      ++count;
    }
    if (count == 0) return {};
    image = image.narrow(0, 0, count);
    valid = valid.narrow(0, 0, count);
    const bool complete =
        std::all_of(valid.const_data_ptr<bool>(), valid.const_data_ptr<bool>() + valid.numel(),
                    [](bool one) { return one; });
    return output_of(model_, models::SegmentationInput{image, complete ? at::Tensor() : valid})
        .to(at::kFloat);
  }

  static at::Tensor any_date(const data::SceneWindow& strip) {
    at::Tensor valid = at::zeros({strip.height, strip.width}, at::kByte);
    uint8_t* out = valid.mutable_data_ptr<uint8_t>();
    const int64_t pixels = strip.height * strip.width;
    for (int64_t i = 0; i < pixels * strip.times; ++i) out[i % pixels] |= strip.valid[static_cast<size_t>(i)];
    return valid;
  }

  void blend(const StripPart& part, const ClassifiedPart& made) {
    const int64_t n = shape_.window, begin = part.columns.front(), width = made.valid.size(1);
    for (int64_t row = 0; row < part.height; ++row)
      std::copy_n(made.valid.const_data_ptr<uint8_t>() + row * width, width,
                  valid_.data() + row * area_.width + begin);
    const at::Tensor logits = made.logits.contiguous();
    for (int64_t i = 0; i < made.columns.numel(); ++i)
      blend_->add(logits.const_data_ptr<float>() + i * n * n * shape_.classes, n,
                  made.columns.const_data_ptr<int64_t>()[i], side_);
    if (part.last) finish_strip(part);
  }

  /// Passes on the rows that no later window covers.
  void finish_strip(const StripPart& strip) {
    const int64_t next = strip.row + strip.height < area_.height ? next_row(strip.row) : area_.height;
    const int64_t done = next - strip.row;
    const std::vector<float> logits = blend_->finish(done);
    take_({strip.row, done, logits, std::span(valid_).first(static_cast<size_t>(done * area_.width))});
  }

  int64_t next_row(int64_t row) const { return *std::upper_bound(rows_.begin(), rows_.end(), row); }

  models::Segmenter& model_;
  const models::SegmentationShape& shape_;
  const data::PixelRect area_;
  const TileOptions options_;
  const AreaReader& read_;
  const RowTaker& take_;
  const int64_t overlap_;
  const std::vector<float> side_;
  const std::vector<int64_t> columns_, rows_;  // window starts
  std::vector<StripPart> parts_;
  std::optional<Blend> blend_;  // only on rank 0
  std::vector<uint8_t> valid_;
};

}  // namespace

void classify_area(models::Segmenter& model, const data::PixelRect& area, const TileOptions& options,
                   const AreaReader& read, const RowTaker& take, train::Workers& workers) {
  AreaClassifier(model, area, options, read, take).run(workers);
}

void highest_classes(std::span<const float> logits, int64_t classes, std::span<int16_t> out) {
  for (size_t pixel = 0; pixel < out.size(); ++pixel) {
    const float* values = logits.data() + static_cast<int64_t>(pixel) * classes;
    out[pixel] = static_cast<int16_t>(std::max_element(values, values + classes) - values);
  }
}

}  // namespace modewise::tasks
