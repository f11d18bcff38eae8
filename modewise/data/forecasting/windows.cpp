#include "modewise/data/forecasting/windows.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"

namespace modewise::data {
namespace {

constexpr int64_t kGrainBytes = 1 << 20;  // minimum bytes copied by each thread

/// Copies [first + offset, first + offset + length) of every row of `table` [N, T] for each window to
/// out [B, N, length]; 0 past T.
template <class T>
void copy_windows(const at::Tensor& table, std::span<const int64_t> first_rows, int64_t offset,
                  int64_t length, at::Tensor& out) {
  const int64_t total = table.size(-1), count = table.numel() / total;
  const T* source = table.const_data_ptr<T>();
  T* target = out.mutable_data_ptr<T>();
  const auto pairs = static_cast<int64_t>(first_rows.size()) * count;
  const int64_t grain = std::max<int64_t>(1, kGrainBytes / (length * static_cast<int64_t>(sizeof(T))));
  at::parallel_for(0, pairs, grain, [&](int64_t begin, int64_t end) {
    for (int64_t pair = begin; pair < end; ++pair) {
      const int64_t first = first_rows[static_cast<size_t>(pair / count)] + offset;
      const int64_t inside = std::clamp<int64_t>(total - first, 0, length);
      T* row = target + pair * length;
      if (inside > 0) std::copy_n(source + (pair % count) * total + first, inside, row);
      std::fill(row + inside, row + length, T{});
    }
  });
}

/// Mask of a complete series: out [B, N, length] is true before the end of the series.
void mark_within(int64_t total, std::span<const int64_t> first_rows, int64_t offset, int64_t length,
                 at::Tensor& out) {
  bool* row = out.mutable_data_ptr<bool>();
  const int64_t count = out.numel() / (static_cast<int64_t>(first_rows.size()) * length);
  for (const int64_t first : first_rows)
    for (int64_t i = 0; i < count; ++i, row += length) {
      const int64_t inside = std::clamp<int64_t>(total - first - offset, 0, length);
      std::fill(row, row + inside, true);
      std::fill(row + inside, row + length, false);
    }
}

/// [T, N_1…N_j, T], contiguous.
at::Tensor time_last(const at::Tensor& x) {
  return x.movedim(0, -1).contiguous();
}

}  // namespace

void check_window(const WindowShape& shape, const Series& series) {
  require(shape.lookback >= 1, ErrorKind::config, "lookback must be at least 1 row, got {}", shape.lookback);
  require(shape.horizon >= 1, ErrorKind::config, "horizon must be at least 1 row, got {}", shape.horizon);
  // Subtraction instead of addition avoids overflow.
  require(shape.lookback <= series.rows() && shape.horizon <= series.rows() - shape.lookback, ErrorKind::data,
          "{}: a window of lookback {} and horizon {} is longer than the data, {}", series.source,
          shape.lookback, shape.horizon, counted(series.rows(), "row"));
}

WindowSet::WindowSet(const std::string& name, SplitRange range, WindowShape shape, bool reach_back,
                     int64_t stride, double fraction, const std::string& source)
    : shape_(shape), stride_(stride) {
  require(shape.lookback >= 1 && shape.horizon >= 1, ErrorKind::config,
          "lookback and horizon must be at least 1 row, got {} and {}", shape.lookback, shape.horizon);
  require(stride >= 1, ErrorKind::config, "window stride must be at least 1, got {}", stride);
  require(fraction > 0 && fraction <= 1, ErrorKind::config,
          "fraction of windows must be above 0 and at most 1, got {}", fraction);
  first_ = range.begin - (reach_back ? std::min(shape.lookback, range.begin) : 0);
  const int64_t have = range.end - first_;
  const bool fits = shape.lookback <= have && shape.horizon <= have - shape.lookback;
  const std::string before =
      first_ < range.begin ? fmt::format(" and the {} before it", range.begin - first_) : std::string();
  require(fits, ErrorKind::data,
          "{}the {} split has {}{}, {} in all; one window of lookback {} and horizon {} needs {}",
          source.empty() ? "" : source + ": ", name, counted(range.rows(), "row"), before, have,
          shape.lookback, shape.horizon,
          static_cast<double>(shape.lookback) + static_cast<double>(shape.horizon));
  const int64_t windows = have - shape.lookback - shape.horizon + 1;
  const auto kept =
      std::max<int64_t>(1, static_cast<int64_t>(std::floor(static_cast<double>(windows) * fraction)));
  size_ = (kept + stride - 1) / stride;
}

WindowSet WindowSet::part(int64_t first, int64_t last) const {
  WindowSet part = *this;
  part.first_ = first_row(first);
  part.size_ = last - first;
  return part;
}

SplitWindows cut_windows(const Splits& splits, WindowShape shape, int64_t train_stride, double train_fraction,
                         int64_t validation_stride) {
  const std::string& source = splits.source;
  return {WindowSet("training", splits.train, shape, false, train_stride, train_fraction, source),
          WindowSet("validation", splits.validation, shape, true, validation_stride, 1, source),
          splits.test.rows() > 0 ? WindowSet("test", splits.test, shape, true, 1, 1, source) : WindowSet()};
}

WindowSource::WindowSource(const at::Tensor& scaled, const at::Tensor& observed)
    : values_(time_last(scaled)), rows_(scaled.size(0)) {
  if (observed.defined()) observed_ = time_last(observed);
}

void WindowSource::set_known(const at::Tensor& features) {
  known_ = time_last(features);
}

WindowBatch WindowSource::gather(const WindowSet& set, std::span<const int64_t> windows) const {
  std::vector<int64_t> first_rows;
  first_rows.reserve(windows.size());
  for (const int64_t window : windows) {
    require(window >= 0 && window < set.size(), ErrorKind::internal, "window {} of {} requested", window,
            set.size());
    first_rows.push_back(set.first_row(window));
  }
  return gather_rows(set.shape(), first_rows);
}

WindowBatch WindowSource::gather_rows(WindowShape shape, std::span<const int64_t> first_rows) const {
  bool past_the_end = false;
  for (const int64_t first : first_rows) {
    require(first >= 0 && first <= rows_ - shape.lookback, ErrorKind::internal,
            "a lookback of {} rows from row {} requested, the series has {}", shape.lookback, first, rows_);
    past_the_end = past_the_end || first + shape.lookback + shape.horizon > rows_;
  }
  std::vector<int64_t> past_shape = values_.sizes().vec();
  past_shape.insert(past_shape.begin(), static_cast<int64_t>(first_rows.size()));
  std::vector<int64_t> future_shape = past_shape;
  past_shape.back() = shape.lookback;
  future_shape.back() = shape.horizon;

  WindowBatch batch;
  batch.past = at::empty(past_shape, at::kFloat);
  batch.future = at::empty(future_shape, at::kFloat);
  copy_windows<float>(values_, first_rows, 0, shape.lookback, batch.past);
  copy_windows<float>(values_, first_rows, shape.lookback, shape.horizon, batch.future);
  if (observed_.defined() || past_the_end) {
    batch.future_observed = at::empty(future_shape, at::kBool);
    if (observed_.defined()) {
      batch.past_observed = at::empty(past_shape, at::kBool);
      copy_windows<bool>(observed_, first_rows, 0, shape.lookback, batch.past_observed);
      copy_windows<bool>(observed_, first_rows, shape.lookback, shape.horizon, batch.future_observed);
    } else {
      mark_within(rows_, first_rows, shape.lookback, shape.horizon, batch.future_observed);
    }
  }
  if (known_.defined()) {
    std::vector<int64_t> known_shape = known_.sizes().vec();
    known_shape.insert(known_shape.begin(), static_cast<int64_t>(first_rows.size()));
    known_shape.back() = shape.lookback + shape.horizon;
    batch.known = at::empty(known_shape, at::kFloat);
    copy_windows<float>(known_, first_rows, 0, shape.lookback + shape.horizon, batch.known);
  }
  batch.first_step = at::empty({static_cast<int64_t>(first_rows.size())}, at::kLong);
  std::copy(first_rows.begin(), first_rows.end(), batch.first_step.mutable_data_ptr<int64_t>());
  return batch;
}

}  // namespace modewise::data
