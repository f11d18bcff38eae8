#include "modewise/analysis/attention_maps.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/xlogy.h>

#include "modewise/nn/evaluation_mode.h"

namespace modewise::analysis {
namespace {

std::vector<double> places_attended(const at::Tensor& factor) {
  const at::Tensor entropy = at::xlogy(factor, factor).sum(-1).neg();                     // [B, H, N]
  const at::Tensor places = entropy.exp().mean(-1).mean(0).to(at::kDouble).contiguous();  // [H]
  return {places.const_data_ptr<double>(), places.const_data_ptr<double>() + places.numel()};
}

}  // namespace

std::vector<AttentionMap> attention_maps(models::Forecaster& model, const models::ForecastInput& input) {
  const at::NoGradGuard no_grad;
  const nn::EvaluationMode evaluation(model);
  std::vector<AttentionMap> out;
  const std::vector<models::ModeMaps> layers = model.attention_maps(input);
  for (size_t layer = 0; layer < layers.size(); ++layer)
    for (size_t i = 0; i < layers[layer].factors.size(); ++i) {
      const at::Tensor factor = layers[layer].factors[i].to(at::kFloat);
      out.push_back(
          {static_cast<int64_t>(layer), layers[layer].modes[i], factor.mean(0), places_attended(factor)});
    }
  return out;
}

}  // namespace modewise::analysis
