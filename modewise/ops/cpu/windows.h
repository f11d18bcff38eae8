#pragma once
// What the taps of a kernel see from each position, as a matrix that is read where it lies.

#include <ATen/core/Tensor.h>

#include <vector>

#include "modewise/ops/cpu/gemm_plan.h"

namespace modewise::ops {

/// Of one mode: from position p, tap t sees the cell first + p · step + t · tap_step, and zeros where there
/// is no such cell.
struct ModeWindows {
  int64_t positions, taps, first, step, tap_step;
};

/// Cells of zeros that lie before and behind those of a mode.
struct Padding {
  int64_t before = 0, behind = 0;

  /// As many as the windows over a mode of n cells see.
  static Padding of(const ModeWindows& mode, int64_t n);
  /// As many as either needs.
  Padding with(const Padding& other) const;
};

/// A tensor [B, N_1 … N_k, C] among the zeros around it; without any, as it is.
class PaddedCells {
 public:
  PaddedCells(const at::Tensor& x, std::vector<Padding> padding);

  const at::Tensor& cells() const { return cells_; }  // dense
  const Padding& padding(size_t mode) const { return padding_[mode]; }

 private:
  std::vector<Padding> padding_;
  at::Tensor cells_;
};

/// The matrix whose row (b, p_1 … p_k) holds the C channels of the cell that each tap (t_1 … t_k) sees, taps
/// in row-major order.
class Windows {
 public:
  /// `padded` has the cells that the windows see, and must outlive them.
  Windows(const PaddedCells& padded, const std::vector<ModeWindows>& modes);

  const LinedMatrix& matrix() const { return matrix_; }
  int64_t depth() const { return static_cast<int64_t>(run_at_.size()) * matrix_.run; }
  /// The same as a dense matrix where every row is the cell of the same place, else undefined.
  const at::Tensor& dense() const { return dense_; }

 private:
  std::vector<int64_t> line_at_, run_at_;
  std::vector<uint64_t> zero_runs_;
  LinedMatrix matrix_;
  at::Tensor dense_;
};

}  // namespace modewise::ops
