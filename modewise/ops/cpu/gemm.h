#pragma once
// Products of matrices by our own loops: the same bits for any number of threads, any number of other rows,
// and any way in which the work is shared (cpu/gemm_plan.h has the order of sums).

#include <ATen/core/Tensor.h>

#include <vector>

#include "modewise/ops/cpu/gemm_plan.h"

namespace modewise::ops {

/// out [M, N] = a [M, K] · b [K, N] + bias [N]: matrices by any strides, out with dense rows; bias dense or
/// undefined. a, b and bias have one dtype, out this one or the type in which sums are taken (float32 for
/// bfloat16). The tensors must outlive the plan.
GemmPlan gemm_plan(const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias, const at::Tensor& out);

/// The same of a matrix b that lies in lines, from its row `b_first` on, or of such an a, all rows of it. The
/// matrix must outlive the plan.
GemmPlan gemm_plan(const at::Tensor& a, const LinedMatrix& b, int64_t b_first, const at::Tensor& out);
GemmPlan gemm_plan(const LinedMatrix& a, const at::Tensor& b, const at::Tensor& bias, const at::Tensor& out);

/// One plan a matrix of out [..., M, N], last leading size fastest, for the matrices of a [..., M, K] and b
/// [..., K, N] in that order: as many of them, by any leading sizes and strides.
std::vector<GemmPlan> gemm_plans(const at::Tensor& a, const at::Tensor& b, const at::Tensor& out);

/// x [.., K] as a matrix [R, K], without a copy where strides allow.
at::Tensor as_rows(const at::Tensor& x);

/// All products of the list, with operands of `type`; none may write where another reads or writes.
void gemm(at::ScalarType type, const std::vector<GemmPlan>& plans);

}  // namespace modewise::ops
