#pragma once
// Implicit im2col: the windows of a convolution kernel as a matrix that is read in place.

#include <ATen/core/Tensor.h>

#include <vector>

#include "modewise/ops/cpu/gemm_plan.h"

namespace modewise::ops {

/// Windows along one mode: at position p, tap t reads cell first + p · step + t · tap_step, or zero padding
/// outside the tensor.
struct ModeWindows {
  int64_t positions, taps, first, step, tap_step;
};

/// Zero padding before and after the cells of a mode.
struct Padding {
  int64_t before = 0, behind = 0;

  /// Padding needed by the windows over a mode of n cells.
  static Padding of(const ModeWindows& mode, int64_t n);
  /// Maximum of both.
  Padding with(const Padding& other) const;
};

/// Zero-padded copy of a tensor [B, N_1 … N_k, C], or the tensor itself without padding.
class PaddedCells {
 public:
  PaddedCells(const at::Tensor& x, std::vector<Padding> padding);

  const at::Tensor& cells() const { return cells_; }  // contiguous
  const Padding& padding(size_t mode) const { return padding_[mode]; }

 private:
  std::vector<Padding> padding_;
  at::Tensor cells_;
};

/// im2col matrix: row (b, p_1 … p_k) holds the C channels of the cell that each tap (t_1 … t_k) reads, taps
/// in row-major order.
class Windows {
 public:
  /// `padded` holds the cells that the windows read, and must outlive them.
  Windows(const PaddedCells& padded, const std::vector<ModeWindows>& modes);

  const LinedMatrix& matrix() const { return matrix_; }
  int64_t depth() const { return static_cast<int64_t>(run_at_.size()) * matrix_.run; }
  /// The same as a contiguous matrix where every row is one cell (1×1, stride 1), else undefined.
  const at::Tensor& dense() const { return dense_; }

 private:
  std::vector<int64_t> line_at_, run_at_;
  std::vector<uint64_t> zero_runs_;
  LinedMatrix matrix_;
  at::Tensor dense_;
};

}  // namespace modewise::ops
