#pragma once
// GEMM operand packed once and multiplied with many blocks of rows, while these are in cache.

#include <ATen/core/Tensor.h>
#include <c10/core/CPUAllocator.h>

#include "modewise/ops/cpu/gemm.h"
#include "modewise/ops/cpu/loops.h"
#include "modewise/ops/cpu/row_tasks.h"

namespace modewise::ops {

/// b [K, N] of any strides, with a bias [N] or none (undefined), in storage type T. b and bias must outlive
/// it. Sums have the order of cpu/gemm_plan.h.
template <class T>
class PackedFactor {
 public:
  PackedFactor(const at::Tensor& b, const at::Tensor& bias) : loops_(*loops().of<T>().gemm) {
    plan_.columns = b.size(1);
    plan_.depth = b.size(0);
    plan_.b = b.const_data_ptr();
    plan_.b_row = b.stride(0);
    plan_.b_col = b.stride(1);
    plan_.bias = bias.defined() ? bias.const_data_ptr() : nullptr;
    panels_ = panels(plan_.columns);
    memory_ = c10::GetCPUAllocator()->allocate(static_cast<size_t>(bytes(plan_.depth, plan_.columns)));
    auto* packed = static_cast<char*>(memory_.get());
    for_tasks(panels_, loops_.panel * plan_.depth, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        loops_.pack(plan_, p, packed + p * loops_.panel_bytes(plan_.depth));
    });
  }

  /// Bytes of a packed factor [depth, columns].
  static int64_t bytes(int64_t depth, int64_t columns) {
    return panels(columns) * loops().of<T>().gemm->panel_bytes(depth);
  }
  /// Scratch bytes for blocks of `rows` rows.
  int64_t scratch(int64_t rows) const { return loops_.scratch(plan_, rows, panels_); }

  /// out [rows, N] = a [rows, K] · b + bias; the rows of out are contiguous and `out_row` elements apart.
  void multiply(const T* a, int64_t a_row, int64_t a_col, int64_t rows, T* out, int64_t out_row,
                void* working) const {
    GemmPlan plan = plan_;
    plan.rows = rows;
    plan.a = a;
    plan.a_row = a_row;
    plan.a_col = a_col;
    plan.out = out;
    plan.out_row = out_row;
    loops_.multiply(plan, 0, rows, 0, panels_, memory_.get(), working);
  }

 private:
  static int64_t panels(int64_t columns) {
    const int64_t panel = loops().of<T>().gemm->panel;
    return (columns + panel - 1) / panel;
  }

  const GemmLoops<T>& loops_;
  GemmPlan plan_ = {};
  int64_t panels_;
  at::DataPtr memory_;
};

}  // namespace modewise::ops
