#include "modewise/models/captioning/next_words.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>

#include "modewise/models/captioning/caption_search.h"
#include "modewise/nn/layers/device.h"

namespace modewise::models {

NextWords::NextWords(Captioner& captioner, const at::Tensor& cells, int64_t each) : captioner_(captioner) {
  const at::NoGradGuard no_grad;
  state_ = captioner.begin(cells);
  if (each > 1)
    state_.reorder(at::arange(cells.size(0), cells.options().dtype(at::kLong)).repeat_interleave(each));
}

void NextWords::reorder(const std::vector<int64_t>& rows) {
  state_.reorder(at::tensor(rows, at::kLong).to(nn::device_of(captioner_)));
}

void NextWords::append(const std::vector<int64_t>& tokens) {
  const at::NoGradGuard no_grad;
  const at::Tensor logits =
      captioner_.step(state_, at::tensor(tokens, at::kLong).to(nn::device_of(captioner_)));
  chances_ = caption_log_probabilities(logits.to(at::kCPU, at::kDouble)).contiguous();
}

std::span<const double> NextWords::of(size_t row) const {
  const auto words = static_cast<size_t>(chances_.size(1));
  return {chances_.const_data_ptr<double>() + row * words, words};
}

}  // namespace modewise::models
