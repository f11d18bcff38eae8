#include "modewise/models/captioning/captioner.h"

#include <fmt/ranges.h>

#include "modewise/core/error.h"
#include "modewise/models/captioning/encoder.h"
#include "modewise/nn/layers/device.h"

namespace modewise::models {

void CaptionState::reorder(const at::Tensor& index) {
  for (at::Tensor& row : rows)
    if (row.defined()) row = row.index_select(0, index);
}

Captioner::Captioner(const CaptionModelConfig& config, const CaptionShape& shape, nn::Initializer& init)
    : shape_(shape),
      max_words_(config.max_words),
      encoder_(register_module("encoder", std::make_shared<CaptionEncoder>(config, shape, init))) {}

Captioner::~Captioner() = default;

at::Tensor Captioner::encode(const at::Tensor& images) {
  return encoder_->forward(nn::placed(images, nn::device_of(*encoder_)));
}

int64_t Captioner::captions_each(const at::Tensor& cells, const at::Tensor& tokens) const {
  require(tokens.dim() == 2 && tokens.scalar_type() == at::kLong, ErrorKind::data,
          "caption tokens must be [R, T] int64, got {} [{}]", c10::toString(tokens.scalar_type()),
          fmt::join(tokens.sizes(), ", "));
  require(tokens.size(1) <= max_words_, ErrorKind::data,
          "a captioner built for {} words takes at most as many, got {}", max_words_, tokens.size(1));
  require(cells.size(0) > 0 && tokens.size(0) % cells.size(0) == 0, ErrorKind::data,
          "each of {} images needs the same number of captions, got {} in total", cells.size(0),
          tokens.size(0));
  return tokens.size(0) / cells.size(0);
}

void Captioner::check_step(const CaptionState& state, const at::Tensor& tokens) const {
  require(state.place < max_words_, ErrorKind::data,
          "a captioner built for {} words takes at most as many, got {}", max_words_, state.place + 1);
  require(tokens.dim() == 1 && tokens.scalar_type() == at::kLong, ErrorKind::data,
          "the next token of each caption must be [R] int64, got {} [{}]",
          c10::toString(tokens.scalar_type()), fmt::join(tokens.sizes(), ", "));
}

}  // namespace modewise::models
