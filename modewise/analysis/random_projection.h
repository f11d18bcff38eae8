#pragma once
// What Theorem 3.1 of "Tensorized Attention" (Long et al.) promises and what one measures: A Tᵀ T, with rows
// of T drawn at random in a tensor space, in place of an attention matrix A.
//
// The theorem follows from Lemma B.1 with δ = 1/n, where its own bound 1 − 2nδ says nothing; a δ of .05/n
// leaves 90 %. As printed the lemma asks for more rows than n at the lengths of the papers here, and from
// order 5 on even so many fail more often than δ (tests/analysis/random_projection_test.cpp).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/report/table.h"

namespace modewise::analysis {

/// T [k, Π modes] float64, k = `rows`: each row (kR)^(-1/2) Σ_j t_1j ⊗ … ⊗ t_mj over R = `rank` terms of
/// standard normal t_ij [N_i], so that E‖T y‖² = ‖y‖². One mode is the ordinary normal projection, for R = 1.
at::Tensor tensor_projection(int64_t rows, const std::vector<int64_t>& modes, int64_t rank,
                             const RandomStream& stream);

/// The rows that Lemma B.1 asks for as it is printed: ε⁻² 3^(m−1) (1 + 2/R) log_2m(n/δ), m modes of product
/// n.
double lemma_rows(double epsilon, double delta, const std::vector<int64_t>& modes, int64_t rank);

struct ProjectionStudy {
  double epsilon = 0.5, delta = 0;
  std::vector<std::vector<int64_t>> spaces;  // of T's rows; the first is vector space, [n]
  std::vector<double> asked;                 // lemma_rows of each space, R = 1
  std::vector<int64_t> rows;                 // k
  std::vector<std::vector<double>> median;  // [k][space] of ‖A Tᵀ T y − A y‖ / ‖A y‖ over draws of T and y
  std::vector<std::vector<double>> within;  // [k][space]: share of the draws where it is below ε
  std::vector<double> truncated;            // [k]: the median with the k largest singular values of A instead
};

/// matrix [n, n], n = Π modes; y standard normal, `draws` of each k; k = 16, 32 … up to 4n. δ = .05/n.
ProjectionStudy study_projections(const at::Tensor& matrix, const std::vector<int64_t>& modes, int64_t draws,
                                  uint64_t seed);

report::Table projection_table(const ProjectionStudy& study);
nlohmann::ordered_json projection_json(const ProjectionStudy& study);

}  // namespace modewise::analysis
