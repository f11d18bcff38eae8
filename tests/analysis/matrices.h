#pragma once
// Matrices for the tests of this folder, drawn from core/random, and Kronecker forms written out in full.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/kron.h>
#include <ATen/ops/linalg_svdvals.h>

#include <vector>

#include "modewise/core/random.h"

namespace modewise::analysis {

inline at::Tensor random_matrix(std::vector<int64_t> shape, uint64_t seed) {
  const at::Tensor out = at::empty(shape, at::kDouble);
  const RandomStream stream{seed, 1, 0};
  auto* values = out.mutable_data_ptr<double>();
  for (int64_t i = 0; i < out.numel(); ++i) values[i] = stream.normal(static_cast<uint64_t>(i));
  return out;
}

/// softmax(scale · random): rows sum to 1; the larger `scale`, the more peaked.
inline at::Tensor random_attention(std::vector<int64_t> shape, uint64_t seed, double scale = 1) {
  return (random_matrix(std::move(shape), seed) * scale).softmax(-1);
}

/// S_1 ⊗ … ⊗ S_k of plain matrices.
inline at::Tensor explicit_product(const std::vector<at::Tensor>& matrices) {
  at::Tensor out = matrices.front();
  for (size_t i = 1; i < matrices.size(); ++i) out = at::kron(out, matrices[i]);
  return out;
}

/// S_1 ⊕ … ⊕ S_k of square matrices.
inline at::Tensor explicit_sum(const std::vector<at::Tensor>& matrices) {
  at::Tensor out;
  for (size_t i = 0; i < matrices.size(); ++i) {
    std::vector<at::Tensor> term;
    for (size_t j = 0; j < matrices.size(); ++j)
      term.push_back(i == j ? matrices[j] : at::eye(matrices[j].size(0), at::kDouble));
    const at::Tensor one = explicit_product(term);
    out = out.defined() ? out + one : one;
  }
  return out;
}

/// ‖A‖_F² / ‖A‖_2² by singular values.
inline double stable_rank_by_svd(const at::Tensor& matrix) {
  const at::Tensor s = at::linalg_svdvals(matrix);
  return (s.square().sum() / s[0].square()).item<double>();
}

}  // namespace modewise::analysis
