#include "modewise/nn/attention/feature_draw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

namespace modewise::nn {
namespace {

constexpr int64_t kDraws = int64_t{1} << 24;

}  // namespace

FeatureDraw::FeatureDraw(const Initializer& init, uint32_t site, int64_t redraw_every)
    : redraw_every_(redraw_every),
      key_(static_cast<int64_t>(init.feature_key(site))),
      numbers_(register_buffer("numbers", at::tensor({key_, draw_}))),
      read_version_(numbers_._version()) {}

int64_t FeatureDraw::seed() {
  if (!numbers_.is_meta() && numbers_._version() != read_version_) {
    const at::Tensor numbers = numbers_.to(at::kCPU, at::kLong);
    key_ = numbers.const_data_ptr<int64_t>()[0];
    draw_ = numbers.const_data_ptr<int64_t>()[1];
    read_version_ = numbers_._version();
  }
  return key_ | draw_ << 24;
}

void FeatureDraw::set_step(uint64_t step) {
  if (!is_training() || redraw_every_ == 0) return;
  const at::NoGradGuard no_grad;
  numbers_[1].fill_(static_cast<int64_t>(step) / redraw_every_ % kDraws);
}

}  // namespace modewise::nn
