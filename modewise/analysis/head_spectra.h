#pragma once
// Spectra of attention heads compared with a random matrix (Tensorized Attention, Figure 4 and B.1): terms
// and parameters that explain 90 % and 99 % of each, and median curves.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "modewise/analysis/decomposition_study.h"

namespace modewise::analysis {

/// Stable rank and spectra of one head of one layer, both counted from 0.
struct HeadSpectra {
  int64_t layer = 0, head = 0;
  double stable_rank = 0;
  std::vector<Spectrum> spectra;
};

/// Random attention matrix: row softmax of standard normal logits over the nonzero cells of A [N, N]: the
/// same size and mask, without structure.
at::Tensor random_attention_like(const at::Tensor& matrix, uint64_t seed);

/// Table with one row per head, their median, and the random matrix. Heads whose computed terms do not
/// suffice count as largest in the median; `> r` if most do not.
report::Table heads_table(const std::vector<HeadSpectra>& heads, const HeadSpectra& random);
nlohmann::ordered_json heads_json(const std::vector<HeadSpectra>& heads);
/// Figures: median singular values and information over the heads with interquartile band; random matrix
/// dashed.
std::vector<report::CaptionedFigure> heads_figures(const std::vector<HeadSpectra>& heads,
                                                   const HeadSpectra& random);

}  // namespace modewise::analysis
