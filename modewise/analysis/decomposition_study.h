#pragma once
// What a full attention matrix is worth in fewer numbers: the error of its Kronecker (CP), Tucker,
// tensor-train and singular value decompositions against rank and parameters, and its spectra in vector space
// and in tensor spaces of order 2, 3, … (Long et al., attention tensorization, section 3.1 and Figure 4).

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
  int64_t rank = 8;                          // the largest
  std::vector<std::vector<int64_t>> spaces;  // more foldings of the rows, such as {32, 16}
  CanonicalOptions canonical;
};

/// What one form reaches with one rank.
struct FormError {
  int64_t rank = 0, parameters = 0;
  double error = 0;  // ‖A − its approximation‖_F / ‖A‖_F
};

/// Singular values in one space. Vector space: the matrix's own, 2N numbers a term. Order 2: those of the
/// rearranged matrix. From order 3 on the weights of the CP decomposition of the largest rank, and the errors
/// of each rank.
struct Spectrum {
  std::string name;            // "vector", "8 × 8 × 8"
  std::vector<int64_t> modes;  // empty: vector space
  int64_t term_parameters = 0;
  std::vector<double> values;       // of the largest: 1, falling
  std::vector<int64_t> ranks;       // 1, 2, 3 … (order ≥ 3: those tried)
  std::vector<double> information;  // 1 − error² with so many terms
};

/// How many terms hold `share` of ‖A‖²: of the numbers of terms tried the first that does; none where even
/// the last holds less.
std::optional<int64_t> terms_for(const Spectrum& spectrum, double share);

struct DecompositionStudy {
  std::vector<int64_t> modes, ranks;
  int64_t tokens = 0;
  std::vector<FormError> kronecker, tucker, train, vector;  // one a rank
  std::vector<Spectrum> spectra;
  KroneckerDecomposition largest;  // of the largest rank
};

/// matrix [N, N], N = Π modes. Data error when it does not fit or has values that are not finite.
DecompositionStudy study_decomposition(const at::Tensor& matrix, const std::vector<int64_t>& modes,
                                       const StudyOptions& options = {});

/// The spectra alone, with ranks that end where 99 % of ‖A‖² are held.
std::vector<Spectrum> study_spectra(const at::Tensor& matrix, const std::vector<int64_t>& modes,
                                    const StudyOptions& options = {});

/// "8 × 8 × 8"; fewer than two modes are "vector" space.
std::string space_name(const std::vector<int64_t>& modes);
/// 1 … 8, then about four to the octave, and `largest`.
std::vector<int64_t> ranks_up_to(int64_t largest);
/// Neighbouring modes merged into `order` groups whose largest is as small as can be.
std::vector<int64_t> merged_modes(const std::vector<int64_t>& modes, int64_t order);

/// Rank against error and parameters of each form.
report::Table study_table(const DecompositionStudy& study);
/// A space a row: terms and numbers that hold 90 % and 99 % of ‖A‖².
report::Table spectra_table(const std::vector<Spectrum>& spectra);
/// One line a form or space and rank: form, rank, parameters, error, information, singular value.
report::Table study_lines(const DecompositionStudy& study);
nlohmann::ordered_json study_json(const DecompositionStudy& study);
/// Error against rank and parameters, spectra, information against parameters.
std::vector<report::CaptionedFigure> study_figures(const DecompositionStudy& study);

}  // namespace modewise::analysis
