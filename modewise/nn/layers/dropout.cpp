#include "modewise/nn/layers/dropout.h"

#include "modewise/nn/attention/feature_draw.h"
#include "modewise/ops/training/dropout_add.h"

namespace modewise::nn {

Dropout::Dropout(Initializer& init, double probability)
    : probability_(probability), key_{.site = init.dropout_site()} {}

at::Tensor Dropout::forward(const at::Tensor& x) const {
  const double p = active_probability();
  return p > 0 ? ops::dropout_add({}, x, p, key_) : x;
}

at::Tensor Dropout::add_to(const at::Tensor& residual, const at::Tensor& x) const {
  return ops::dropout_add(residual, x, active_probability(), key_);
}

void Dropout::set_step(uint64_t seed, uint64_t step) {
  key_.seed = seed;
  key_.step = step;
}

void set_dropout_step(torch::nn::Module& root, uint64_t seed, uint64_t step) {
  root.apply([&](torch::nn::Module& module) {
    if (auto* dropout = dynamic_cast<Dropout*>(&module)) dropout->set_step(seed, step);
    if (auto* draw = dynamic_cast<FeatureDraw*>(&module)) draw->set_step(step);
  });
}

}  // namespace modewise::nn
