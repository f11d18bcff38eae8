#pragma once
// Tucker and tensor-train decompositions, which the paper compares with Kronecker decompositions
// (Higher-Order Transformers, appendix A.2, equations 19 and 20): Tucker by higher-order SVD and orthogonal
// iteration (De Lathauwer et al. 2000), tensor trains by successive SVDs (Oseledets 2011).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::analysis {

struct TuckerDecomposition {
  at::Tensor core;                  // [r_1 … r_k] float64
  std::vector<at::Tensor> factors;  // [d_i, r_i], orthonormal columns
  double error = 0;                 // relative_error of the approximation
  int64_t parameters() const;       // Π r_i + Σ d_i r_i
};

/// Each r_i is min(rank, d_i, Π of the other r). At most `iterations` sweeps of orthogonal iteration (HOOI);
/// 0: higher-order SVD only.
TuckerDecomposition tucker_decomposition(const at::Tensor& tensor, int64_t rank, int64_t iterations = 50);
at::Tensor reconstructed(const TuckerDecomposition& decomposition);

struct TensorTrain {
  std::vector<at::Tensor> cores;  // [r_{i−1}, d_i, r_i] float64, r_0 = r_k = 1
  double error = 0;
  int64_t parameters() const;  // Σ r_{i−1} d_i r_i
};

/// Tensor-train decomposition with ranks of at most `rank`.
TensorTrain tensor_train(const at::Tensor& tensor, int64_t rank);
at::Tensor reconstructed(const TensorTrain& train);

}  // namespace modewise::analysis
