#pragma once
// Windows of a split (lookback rows, then horizon rows) as TSLib cuts them, and their gathering into batches.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>

#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/splits.h"

namespace modewise::data {

struct WindowShape {
  int64_t lookback = 96, horizon = 96;  // L and H, in rows
};

/// Throws when lookback or horizon is below 1 (config), or a window is longer than the whole series (data).
void check_window(const WindowShape& shape, const Series& series);

/// The windows of one split, in time order. Window w covers past rows [first_row(w), first_row(w) + L) and
/// future rows [first_row(w) + L, first_row(w) + L + H).
class WindowSet {
 public:
  WindowSet() = default;
  /// Windows of `range`; `reach_back` lets the first lookback begin before the range (validation and test),
  /// so that the first target row is range.begin. `stride` takes every stride-th window; `fraction` keeps the
  /// first part of the windows. Data error naming `name` with rows needed and had when not one window fits.
  WindowSet(const std::string& name, SplitRange range, WindowShape shape, bool reach_back, int64_t stride = 1,
            double fraction = 1);

  int64_t size() const { return size_; }
  int64_t first_row(int64_t window) const { return first_ + window * stride_; }
  const WindowShape& shape() const { return shape_; }
  /// The windows from first until last.
  WindowSet part(int64_t first, int64_t last) const;

 private:
  WindowShape shape_;
  int64_t first_ = 0, stride_ = 1, size_ = 0;
};

/// The three sets of a split, that of test empty where it has no rows.
struct SplitWindows {
  WindowSet train, validation, test;
};
SplitWindows cut_windows(const Splits& splits, WindowShape shape, int64_t train_stride = 1,
                         double train_fraction = 1, int64_t validation_stride = 1);

/// B windows, time last, contiguous.
struct WindowBatch {
  at::Tensor past;           // [B, N_1…N_j, L] float32 scaled, 0 where missing
  at::Tensor past_observed;  // the same shape, bool; undefined when the series has no missing cell
  at::Tensor future;         // [B, N_1…N_j, H]
  at::Tensor future_observed;
  at::Tensor first_step;  // [B] int64, row of past[…, 0]
  at::Tensor
      known;  // [B, N_1…N_i, K, L + H] float32 scaled, what is known ahead (known.h); undefined: nothing
};

/// Holds the scaled series with time last, so that a window of one series is one copy of L floats.
class WindowSource {
 public:
  WindowSource() = default;
  /// `scaled` [T, N_1…N_j] float32 (Scaler::transform), `observed` [T, N_1…N_j] bool or undefined.
  WindowSource(const at::Tensor& scaled, const at::Tensor& observed);

  /// What is known ahead, `features` [T', N_1…N_i, K] float32 (known.h): windows bring their rows of it too.
  void set_known(const at::Tensor& features);

  /// Gathers `windows` of `set`. Safe to call from any thread; the same bits for any number of threads.
  WindowBatch gather(const WindowSet& set, std::span<const int64_t> windows) const;
  /// Lookbacks that begin at `first_rows` and their futures; rows past the end of the series count as missing
  /// futures (0), so that `first_rows = {T − L}` is the input of a forecast beyond the data.
  WindowBatch gather_rows(WindowShape shape, std::span<const int64_t> first_rows) const;

  /// [N_1…N_j, T] float32, and the mask of that shape, undefined when nothing is missing.
  const at::Tensor& values() const { return values_; }
  const at::Tensor& observed() const { return observed_; }
  /// [N_1…N_i, K, T'], undefined when nothing is known ahead.
  const at::Tensor& known() const { return known_; }

  int64_t rows() const { return rows_; }
  bool has_missing() const { return observed_.defined(); }

 private:
  at::Tensor values_;    // [N_1…N_j, T] float32
  at::Tensor observed_;  // [N_1…N_j, T] bool
  at::Tensor known_;     // [N_1…N_i, K, T'] float32
  int64_t rows_ = 0;
};

}  // namespace modewise::data
