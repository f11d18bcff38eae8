#pragma once
// GEMM on modewise's own micro-kernels: bitwise identical for any number of threads, any number of other rows
// and any task partition (cpu/gemm_plan.h defines the order of sums).

#include <ATen/core/Tensor.h>

#include <vector>

#include "modewise/ops/cpu/gemm_plan.h"

namespace modewise::ops {

/// out [M, N] = a [M, K] · b [K, N] + bias [N]: a and b of any strides, out with contiguous rows; bias
/// contiguous or undefined. a, b and bias have one dtype, out the same or the accumulate type (float32 for
/// bfloat16). The tensors must outlive the plan.
GemmPlan gemm_plan(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias, const at::Tensor& out);

/// The same with an implicit im2col matrix as b, from its row `b_first` on, or as a, with all its rows. The
/// matrix must outlive the plan.
GemmPlan gemm_plan(const at::Tensor& a, const LinedMatrix& b, int64_t b_first, const at::Tensor& out);
GemmPlan gemm_plan(const LinedMatrix& a, const at::Tensor& b, const at::Tensor& bias, const at::Tensor& out);

/// Batched GEMM: one plan per matrix of out [..., M, N], last batch dimension fastest, from as many matrices
/// of a [..., M, K] and b [..., K, N] in that order, with any batch dimensions and strides.
std::vector<GemmPlan> gemm_plans(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out);

/// x [.., K] as a matrix [R, K], as a view if the strides allow it.
at::Tensor as_rows(const at::Tensor& x);

/// Computes all products of the list for operands of `type`; outputs must not overlap other operands.
void gemm(at::ScalarType type, const std::vector<GemmPlan>& plans);

}  // namespace modewise::ops
