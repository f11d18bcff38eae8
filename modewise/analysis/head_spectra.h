#pragma once
// The spectra of many heads beside each other and beside a random matrix (Tensorized Attention, Figure 4 and
// B.1): terms and numbers that hold a share of each, and the curves' medians.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "modewise/analysis/decomposition_study.h"

namespace modewise::analysis {

/// One head of one layer, counted from 0, in numbers.
struct HeadSpectra {
  int64_t layer = 0, head = 0;
  double stable_rank = 0;
  std::vector<Spectrum> spectra;
};

/// Rows of softmaxes of standard normal logits over the cells of A [N, N] that are not 0: what has its size
/// and its mask, and no structure.
at::Tensor random_attention_like(const at::Tensor& matrix, uint64_t seed);

/// A row a head, their median, and the random matrix. Where a head's terms did not suffice, the median counts
/// them as more than all others; `> r` stands where most did not.
report::Table heads_table(const std::vector<HeadSpectra>& heads, const HeadSpectra& random);
nlohmann::ordered_json heads_json(const std::vector<HeadSpectra>& heads);
/// The median of the heads' singular values and of the information held, with the band of the middle half,
/// and those of the random matrix dashed.
std::vector<report::CaptionedFigure> heads_figures(const std::vector<HeadSpectra>& heads,
                                                   const HeadSpectra& random);

}  // namespace modewise::analysis
