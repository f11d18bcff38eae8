#include "modewise/nn/feature_draw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

namespace modewise::nn {
namespace {

constexpr int64_t kDraws = int64_t{1} << 24;

}  // namespace

FeatureDraw::FeatureDraw(const Initializer& init, uint32_t site, int64_t redraw_every)
    : redraw_every_(redraw_every),
      numbers_(register_buffer("numbers",
                               at::tensor({static_cast<int64_t>(init.feature_key(site)), int64_t{0}}))) {}

int64_t FeatureDraw::seed() const {
  const at::Tensor numbers = numbers_.to(at::kCPU, at::kLong);
  const int64_t* number = numbers.const_data_ptr<int64_t>();
  return number[0] | number[1] << 24;
}

void FeatureDraw::set_step(uint64_t step) {
  if (!is_training() || redraw_every_ == 0) return;
  const at::NoGradGuard no_grad;
  numbers_[1].fill_(static_cast<int64_t>(step) / redraw_every_ % kDraws);
}

}  // namespace modewise::nn
