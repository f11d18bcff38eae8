#include "modewise/analysis/attention_maps.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/xlogy.h>

namespace modewise::analysis {
namespace {

/// Puts a module into evaluation mode, and back at the end.
class EvaluationMode {
 public:
  explicit EvaluationMode(torch::nn::Module& module) : module_(module), training_(module.is_training()) {
    module_.eval();
  }
  ~EvaluationMode() { module_.train(training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  torch::nn::Module& module_;
  bool training_;
};

std::vector<double> places_attended(const at::Tensor& factor) {
  const at::Tensor entropy = at::xlogy(factor, factor).sum(-1).neg();                     // [B, H, N]
  const at::Tensor places = entropy.exp().mean(-1).mean(0).to(at::kDouble).contiguous();  // [H]
  return {places.const_data_ptr<double>(), places.const_data_ptr<double>() + places.numel()};
}

}  // namespace

std::vector<AttentionMap> attention_maps(models::Forecaster& model, const models::ForecastInput& input) {
  const at::NoGradGuard no_grad;
  const EvaluationMode evaluation(model);
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
