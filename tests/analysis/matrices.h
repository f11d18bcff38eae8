#pragma once
// Random matrices (core/random) and explicit Kronecker products and sums for the tests of this folder.

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/kron.h>
#include <ATen/ops/linalg_svdvals.h>

#include <vector>

#include "modewise/analysis/stable_rank.h"
#include "modewise/core/random.h"

namespace modewise::analysis {

inline at::Tensor random_matrix(std::vector<int64_t> shape, uint64_t seed) {
  const at::Tensor out = at::empty(shape, at::kDouble);
  const RandomStream stream{seed, RandomSite{1}, 0};
  auto* values = out.mutable_data_ptr<double>();
  for (int64_t i = 0; i < out.numel(); ++i) values[i] = stream.normal(static_cast<uint64_t>(i));
  return out;
}

/// softmax(scale · random): rows sum to 1; the larger `scale`, the more peaked.
inline at::Tensor random_attention(std::vector<int64_t> shape, uint64_t seed, double scale = 1) {
  return (random_matrix(std::move(shape), seed) * scale).softmax(-1);
}

/// One such matrix per size, with consecutive seeds.
inline std::vector<at::Tensor> attention_of(const std::vector<int64_t>& sizes, uint64_t seed, double scale) {
  std::vector<at::Tensor> out;
  for (const int64_t n : sizes) out.push_back(random_attention({n, n}, seed++, scale));
  return out;
}

/// All modes attended, one sample and head.
inline ModeFactors factors_of(const std::vector<at::Tensor>& matrices) {
  ModeFactors out;
  for (size_t i = 0; i < matrices.size(); ++i) {
    out.sizes.push_back(matrices[i].size(0));
    out.modes.push_back(static_cast<int64_t>(i));
    out.matrices.push_back(matrices[i]);
  }
  return out;
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
