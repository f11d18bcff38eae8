#pragma once
// The captions of several pictures while they are written: what may come next in each, by one step for all.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/models/captioning/captioner.h"

namespace modewise::models {

class NextWords {
 public:
  /// `each` captions a picture of cells [B, h, w, D], those of a picture together. No gradients.
  NextWords(Captioner& captioner, const at::Tensor& cells, int64_t each);

  /// Row r goes on from what was row rows[r], as CaptionState::reorder.
  void reorder(const std::vector<int64_t>& rows);
  /// Appends a token to each caption.
  void append(const std::vector<int64_t>& tokens);
  /// caption_log_probabilities of the word that follows in caption `row`, [V].
  std::span<const double> of(size_t row) const;

 private:
  Captioner& captioner_;
  CaptionState state_;
  at::Tensor chances_;  // [R, V] float64
};

}  // namespace modewise::models
