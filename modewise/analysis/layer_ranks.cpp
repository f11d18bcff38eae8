#include "modewise/analysis/layer_ranks.h"

#include "modewise/analysis/stable_rank.h"

namespace modewise::analysis {
namespace {

/// [B, heads] -> the mean over B, summed in sample order so that the bits do not depend on threads.
std::vector<double> mean_over_samples(const at::Tensor& ranks) {
  const int64_t samples = ranks.size(0), heads = ranks.size(1);
  const double* values = ranks.const_data_ptr<double>();
  std::vector<double> out(static_cast<size_t>(heads), 0);
  for (int64_t b = 0; b < samples; ++b)
    for (int64_t h = 0; h < heads; ++h)
      out[static_cast<size_t>(h)] += values[b * heads + h] / static_cast<double>(samples);
  return out;
}

}  // namespace

std::vector<LayerRanks> layer_ranks(const models::AttentionView& attention) {
  std::vector<LayerRanks> out;
  for (const models::ModeMaps& layer : attention.maps) {
    LayerRanks ranks;
    ranks.modes = layer.modes;
    const ModeFactors joined{attention.sizes, layer.modes, layer.factors};
    for (const at::Tensor& factor : layer.factors)
      ranks.by_mode.push_back(mean_over_samples(stable_rank(factor)));
    ranks.product = mean_over_samples(product_stable_rank(joined).contiguous());
    ranks.sum = mean_over_samples(sum_stable_rank(joined));
    out.push_back(std::move(ranks));
  }
  for (const at::Tensor& matrix : attention.full) {
    LayerRanks ranks;
    ranks.full = mean_over_samples(stable_rank(matrix));
    out.push_back(std::move(ranks));
  }
  return out;
}

}  // namespace modewise::analysis
