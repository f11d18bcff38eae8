#pragma once
// Batched incremental decoding of several images' captions: next-word log probabilities, one step for all.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/models/captioning/captioner.h"

namespace modewise::models {

class NextWords {
 public:
  /// `each` captions per image, cells [B, h, w, D], grouped by image. No gradients.
  NextWords(Captioner& captioner, const at::Tensor& cells, int64_t each);

  /// Row r continues the former row rows[r], as CaptionState::reorder.
  void reorder(const std::vector<int64_t>& rows);
  /// Appends a token to each caption.
  void append(const std::vector<int64_t>& tokens);
  /// caption_log_probabilities of the next word of caption `row`, [V].
  std::span<const double> of(size_t row) const;

 private:
  Captioner& captioner_;
  CaptionState state_;
  at::Tensor chances_;  // [R, V] float64
};

}  // namespace modewise::models
