#pragma once
// Decomposition study of a full attention matrix: error of its Kronecker (CP), Tucker, tensor-train and
// singular value decompositions against rank and parameters, and its spectra in vector space and in tensor
// spaces of order 2, 3, … (Long et al., attention tensorization, section 3.1 and Figure 4).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "modewise/analysis/kronecker_decomposition.h"
#include "modewise/report/html_page.h"
#include "modewise/report/table.h"

namespace modewise::analysis {

struct StudyOptions {
  int64_t rank = 8;                          // maximum rank
  std::vector<std::vector<int64_t>> spaces;  // additional foldings of the rows, such as {32, 16}
  CanonicalOptions canonical;
};

/// Error of one decomposition at one rank.
struct FormError {
  int64_t rank = 0, parameters = 0;
  double error = 0;  // ‖A − approximation‖_F / ‖A‖_F
};

/// Singular values in one space. Vector space: those of the matrix, 2N parameters per term. Order 2: those of
/// the rearranged matrix. From order 3 on: weights of the CP decomposition of the maximum rank, and the
/// errors of each rank.
struct Spectrum {
  std::string name;            // "vector", "8 × 8 × 8"
  std::vector<int64_t> modes;  // empty: vector space
  int64_t term_parameters = 0;
  std::vector<double> values;       // relative to the largest, descending from 1
  std::vector<int64_t> ranks;       // 1, 2, 3 … (order ≥ 3: the ranks computed)
  std::vector<double> information;  // 1 − error² with that many terms
};

/// Smallest computed number of terms that explains a fraction `share` of ‖A‖²; nothing if none does.
std::optional<int64_t> terms_for(const Spectrum& spectrum, double share);

struct DecompositionStudy {
  std::vector<int64_t> modes, ranks;
  int64_t tokens = 0;
  std::vector<FormError> kronecker, tucker, train, vector;  // one per rank
  std::vector<Spectrum> spectra;
  KroneckerDecomposition largest;  // of the maximum rank
};

/// matrix [N, N], N = Π modes. Data error for other sizes or non-finite values.
DecompositionStudy study_decomposition(const at::Tensor& matrix, const std::vector<int64_t>& modes,
                                       const StudyOptions& options = {});

/// Only the spectra, up to the rank that explains 99 % of ‖A‖².
std::vector<Spectrum> study_spectra(const at::Tensor& matrix, const std::vector<int64_t>& modes,
                                    const StudyOptions& options = {});

/// "8 × 8 × 8"; fewer than two modes are "vector" space.
std::string space_name(const std::vector<int64_t>& modes);
/// Ranks 1 … 8, then about four per octave, and `largest`.
std::vector<int64_t> ranks_up_to(int64_t largest);
/// Merges neighbouring modes into `order` groups, minimizing the largest group.
std::vector<int64_t> merged_modes(const std::vector<int64_t>& modes, int64_t order);

/// Table: error and parameters of each decomposition by rank.
report::Table study_table(const DecompositionStudy& study);
/// Table with one row per space: terms and parameters that explain 90 % and 99 % of ‖A‖².
report::Table spectra_table(const std::vector<Spectrum>& spectra);
/// CSV table with one row per decomposition or space and rank: form, rank, parameters, error, information,
/// singular value.
report::Table study_lines(const DecompositionStudy& study);
nlohmann::ordered_json study_json(const DecompositionStudy& study);
/// Figures: error against rank and parameters, spectra, information against parameters.
std::vector<report::CaptionedFigure> study_figures(const DecompositionStudy& study);

}  // namespace modewise::analysis
