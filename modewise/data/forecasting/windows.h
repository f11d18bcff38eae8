#pragma once
// Forecasting windows (lookback rows, then horizon rows) as in TSLib, and their batches.

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

/// Throws if lookback or horizon is below 1 (config), or a window is longer than the series (data).
void check_window(const WindowShape& shape, const Series& series);

/// Windows of one split, in time order. Window w has past rows [first_row(w), first_row(w) + L) and future
/// rows [first_row(w) + L, first_row(w) + L + H).
class WindowSet {
 public:
  WindowSet() = default;
  /// Windows of `range`. With `reach_back` (validation and test) the first lookback begins before the range,
  /// so that the first target row is range.begin. `stride` keeps every stride-th window, `fraction` the first
  /// fraction of them. Data error naming `source` and `name`, the rows needed and available, if no window
  /// fits.
  WindowSet(const std::string& name, SplitRange range, WindowShape shape, bool reach_back, int64_t stride = 1,
            double fraction = 1, const std::string& source = {});

  int64_t size() const { return size_; }
  int64_t first_row(int64_t window) const { return first_ + window * stride_; }
  const WindowShape& shape() const { return shape_; }
  /// Windows [first, last).
  WindowSet part(int64_t first, int64_t last) const;

 private:
  WindowShape shape_;
  int64_t first_ = 0, stride_ = 1, size_ = 0;
};

/// Windows of the three splits; `test` is empty if it has no rows.
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
  at::Tensor known;       // [B, N_1…N_i, K, L + H] float32 scaled, future covariates; undefined: none
  at::Tensor weight;      // [B, N_1…N_j, 1], factor of the errors in the training loss; undefined: 1
};

/// The scaled series with time last, so that gathering a window of one series copies L contiguous floats.
class WindowSource {
 public:
  WindowSource() = default;
  /// `scaled` [T, N_1…N_j] float32 (Scaler::transform), `observed` [T, N_1…N_j] bool or undefined.
  WindowSource(const at::Tensor& scaled, const at::Tensor& observed);

  /// Adds future covariates `features` [T', N_1…N_i, K] float32 (future_covariates.h) to all windows.
  void set_known(const at::Tensor& features);

  /// Gathers `windows` of `set`. Thread-safe; bit-exact for any number of threads.
  WindowBatch gather(const WindowSet& set, std::span<const int64_t> windows) const;
  /// Gathers windows that begin at `first_rows`; future rows past the end of the series are missing (0), so
  /// that `first_rows = {T − L}` is the input of a forecast beyond the data.
  WindowBatch gather_rows(WindowShape shape, std::span<const int64_t> first_rows) const;

  /// [N_1…N_j, T] float32, and the mask of that shape, undefined if nothing is missing.
  const at::Tensor& values() const { return values_; }
  const at::Tensor& observed() const { return observed_; }
  /// [N_1…N_i, K, T']; undefined without future covariates.
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
