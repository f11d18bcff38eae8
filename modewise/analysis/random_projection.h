#pragma once
// Random projections in tensor space, theory and measurement: Theorem 3.1 of "Tensorized Attention" (Long et
// al.) replaces an attention matrix A by A Tᵀ T, with rows of T drawn at random in a tensor space.
//
// The theorem follows from Lemma B.1 with δ = 1/n, for which its bound 1 − 2nδ is vacuous; δ = .05/n gives
// 90 %. As printed, the lemma needs more than n rows at the lengths used in these papers, and from order 5 on
// even that many fail more often than δ (tests/analysis/random_projection_test.cpp).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/report/table.h"

namespace modewise::analysis {

/// T [k, Π modes] float64, k = `rows`: each row is (kR)^(-1/2) Σ_j t_1j ⊗ … ⊗ t_mj over R = `rank` terms of
/// standard normal t_ij [N_i], so that E‖T y‖² = ‖y‖². One mode with R = 1 is the usual Gaussian projection.
at::Tensor tensor_projection(int64_t rows, const std::vector<int64_t>& modes, int64_t rank,
                             const RandomStream& stream);

/// The number of rows that Lemma B.1 requires as printed: ε⁻² 3^(m−1) (1 + 2/R) log_2m(n/δ), m modes of
/// product n.
double lemma_rows(double epsilon, double delta, const std::vector<int64_t>& modes, int64_t rank);

struct ProjectionStudy {
  double epsilon = 0.5, delta = 0;
  std::vector<std::vector<int64_t>> spaces;  // modes of T's rows; the first is vector space, [n]
  std::vector<double> asked;                 // lemma_rows of each space, R = 1
  std::vector<int64_t> rows;                 // k
  std::vector<std::vector<double>> median;  // [k][space]: of ‖A Tᵀ T y − A y‖ / ‖A y‖ over draws of T and y
  std::vector<std::vector<double>> within;  // [k][space]: fraction of the draws with an error below ε
  std::vector<double> truncated;            // [k]: median error of the rank-k truncated SVD of A
};

/// matrix [n, n], n = Π modes; y standard normal, `draws` draws per k; k = 16, 32 … up to 4n. δ = .05/n.
ProjectionStudy study_projections(const at::Tensor& matrix, const std::vector<int64_t>& modes, int64_t draws,
                                  uint64_t seed);

report::Table projection_table(const ProjectionStudy& study);
nlohmann::ordered_json projection_json(const ProjectionStudy& study);

}  // namespace modewise::analysis
