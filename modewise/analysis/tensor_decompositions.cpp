#include "modewise/analysis/tensor_decompositions.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <cmath>

#include "modewise/analysis/canonical_decomposition.h"
#include "modewise/analysis/one_thread.h"

namespace modewise::analysis {
namespace {

/// Mode product tensor ×_mode matrix, matrix [M, d_mode].
at::Tensor multiplied(const at::Tensor& tensor, const at::Tensor& matrix, int64_t mode) {
  std::vector<int64_t> sizes = tensor.movedim(mode, 0).sizes().vec();
  sizes.front() = matrix.size(0);
  return at::matmul(matrix, unfolded(tensor, mode)).reshape(sizes).movedim(0, mode);
}

/// The `rank` leading left singular vectors.
at::Tensor leading_vectors(const at::Tensor& rows, int64_t rank) {
  if (rows.size(0) > rows.size(1))
    return std::get<0>(at::linalg_svd(rows, /*full_matrices=*/false)).narrow(1, 0, rank).contiguous();
  return std::get<1>(at::linalg_eigh(at::matmul(rows, rows.t()))).flip(1).narrow(1, 0, rank).contiguous();
}

at::Tensor core_of(const at::Tensor& tensor, const std::vector<at::Tensor>& factors, int64_t left_out = -1) {
  at::Tensor core = tensor;
  for (int64_t mode = 0; mode < tensor.dim(); ++mode)
    if (mode != left_out) core = multiplied(core, factors[static_cast<size_t>(mode)].t(), mode);
  return core;
}

/// min(rank, d_i), limited by the product of the other ranks.
std::vector<int64_t> ranks_of(const at::Tensor& tensor, int64_t rank) {
  std::vector<int64_t> ranks;
  for (const int64_t size : tensor.sizes()) ranks.push_back(std::min(size, rank));
  for (size_t i = 0; i < ranks.size(); ++i) {
    int64_t others = 1;
    for (size_t j = 0; j < ranks.size(); ++j)
      if (j != i) others = std::min<int64_t>(others * ranks[j], int64_t{1} << 40);
    ranks[i] = std::min(ranks[i], others);
  }
  return ranks;
}

}  // namespace

int64_t TuckerDecomposition::parameters() const {
  int64_t numbers = core.numel();
  for (const at::Tensor& factor : factors) numbers += factor.numel();
  return numbers;
}

TuckerDecomposition tucker_decomposition(const at::Tensor& tensor, int64_t rank, int64_t iterations) {
  const at::NoGradGuard no_grad;
  const OneThread one_thread;
  const at::Tensor values = tensor.to(at::kDouble).contiguous();
  const std::vector<int64_t> ranks = ranks_of(values, rank);
  TuckerDecomposition out;
  for (int64_t mode = 0; mode < values.dim(); ++mode)
    out.factors.push_back(leading_vectors(unfolded(values, mode), ranks[static_cast<size_t>(mode)]));
  const auto core_norm = [&] { return at::linalg_vector_norm(core_of(values, out.factors)).item<double>(); };
  double before = core_norm();
  for (int64_t i = 0; i < iterations && values.dim() > 2; ++i) {
    for (int64_t mode = 0; mode < values.dim(); ++mode)
      out.factors[static_cast<size_t>(mode)] = leading_vectors(
          unfolded(core_of(values, out.factors, mode), mode), ranks[static_cast<size_t>(mode)]);
    const double now = core_norm();
    if (!(now - before > 1e-10 * before)) break;
    before = now;
  }
  out.core = core_of(values, out.factors).contiguous();
  out.error = relative_error(values, reconstructed(out));
  return out;
}

at::Tensor reconstructed(const TuckerDecomposition& decomposition) {
  at::Tensor out = decomposition.core;
  for (size_t mode = 0; mode < decomposition.factors.size(); ++mode)
    out = multiplied(out, decomposition.factors[mode], static_cast<int64_t>(mode));
  return out;
}

int64_t TensorTrain::parameters() const {
  int64_t numbers = 0;
  for (const at::Tensor& core : cores) numbers += core.numel();
  return numbers;
}

TensorTrain tensor_train(const at::Tensor& tensor, int64_t rank) {
  const at::NoGradGuard no_grad;
  const OneThread one_thread;
  const at::Tensor values = tensor.to(at::kDouble).contiguous();
  TensorTrain out;
  at::Tensor rest = values.reshape({1, -1});
  int64_t left = 1;
  for (int64_t mode = 0; mode + 1 < values.dim(); ++mode) {
    const auto [u, s, vh] =
        at::linalg_svd(rest.reshape({left * values.size(mode), -1}), /*full_matrices=*/false);
    const int64_t kept = std::min(rank, s.size(0));
    out.cores.push_back(u.narrow(1, 0, kept).reshape({left, values.size(mode), kept}).contiguous());
    rest = s.narrow(0, 0, kept).unsqueeze(1) * vh.narrow(0, 0, kept);
    left = kept;
  }
  out.cores.push_back(rest.reshape({left, values.size(-1), 1}).contiguous());
  out.error = relative_error(values, reconstructed(out));
  return out;
}

at::Tensor reconstructed(const TensorTrain& train) {
  at::Tensor out = train.cores.front();
  std::vector<int64_t> sizes{out.size(1)};
  for (size_t i = 1; i < train.cores.size(); ++i) {
    const at::Tensor& core = train.cores[i];
    out = at::matmul(out.reshape({-1, core.size(0)}), core.reshape({core.size(0), -1}));
    sizes.push_back(core.size(1));
  }
  return out.reshape(sizes);
}

}  // namespace modewise::analysis
