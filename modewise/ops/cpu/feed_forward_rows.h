#pragma once
// Shared parts of the feed_forward forward and backward kernels: cast weights, packed products of x, and the
// activation, gate and dropout on rows of pre-activations.

#include <ATen/core/Tensor.h>

#include <optional>

#include "modewise/ops/cpu/dropout_plan.h"
#include "modewise/ops/cpu/loops.h"
#include "modewise/ops/cpu/packed_factor.h"
#include "modewise/ops/dense/feed_forward.h"

namespace modewise::ops {

/// Rows per block: its activations are a few hundred KiB, and a block starts at a whole group of 64 dropout
/// elements for any width.
constexpr int64_t kFeedRows = 64;
/// Limits of a task's scratch memory, which stays in a core's cache between calls, and of the packed weights,
/// which the cores share in a cache.
constexpr int64_t kFeedScratch = int64_t{4} << 20, kFeedWeights = int64_t{8} << 20;
/// Up to this number of rows a product does not pack its weight.
constexpr int64_t kFeedFewRows = 192;

/// The weights cast to the dtype of the activations, biases contiguous.
inline FeedForwardWeights cast_weights(const FeedForwardWeights& weights, at::ScalarType type) {
  const auto cast = [&](const at::Tensor& w) { return w.defined() ? w.to(type) : w; };
  const auto dense = [&](const at::Tensor& w) { return w.defined() ? w.to(type).contiguous() : w; };
  return {cast(weights.first), cast(weights.second), cast(weights.gate), dense(weights.first_bias),
          dense(weights.second_bias)};
}

/// First layer on rows of x: gate x and first x + first_bias side by side [rows, 2M], or only the latter
/// [rows, M]. The weights must outlive it.
template <class T>
class FirstMaps {
 public:
  explicit FirstMaps(const FeedForwardWeights& weights)
      : width_(weights.first.size(0)), first_(weights.first.t(), weights.first_bias) {
    if (weights.gate.defined()) gate_.emplace(weights.gate.t(), at::Tensor());
  }
  int64_t scratch(int64_t rows) const { return first_.scratch(rows); }
  /// Multiplies `count` rows of x from `row` on.
  void multiply(const at::Tensor& x, int64_t row, int64_t count, T* out, void* working) const {
    const T* from = static_cast<const T*>(x.const_data_ptr()) + row * x.stride(0);
    const int64_t channels = gate_ ? 2 * width_ : width_;
    if (gate_) gate_->multiply(from, x.stride(0), x.stride(1), count, out, channels, working);
    first_.multiply(from, x.stride(0), x.stride(1), count, out + channels - width_, channels, working);
  }

 private:
  int64_t width_;
  PackedFactor<T> first_;
  std::optional<PackedFactor<T>> gate_;
};

/// First layer on all rows of x [R, K], as one product after another.
at::Tensor first_maps(const at::Tensor& x, const FeedForwardWeights& weights);

/// Activation of rows: pre-activations `before` [rows, C] (C = 2M with a gate, else M) to `hidden` [rows, M].
/// `first` is the index of the first of these rows among all, a multiple of kFeedRows.
template <class T>
struct HiddenRows {
  const TensorLoops<T>& loops;
  int64_t width;  // M
  bool gated;
  DropoutPlan dropout;

  HiddenRows(const FeedForwardWeights& weights, double p, DropoutKey key)
      : loops(ops::loops().of<T>()),
        width(weights.first.size(0)),
        gated(weights.gate.defined()),
        dropout(dropout_plan(p, key)) {}

  int64_t channels() const { return gated ? 2 * width : width; }

  void forward(const T* before, T* hidden, int64_t first, int64_t rows) const {
    (gated ? loops.activation->swiglu : loops.activation->gelu)(before, hidden, 0, rows, width);
    drop(hidden, first, rows);
  }
  /// grad [rows, M], which is overwritten, -> grad_before [rows, C]; recomputes hidden.
  void backward(const T* before, T* grad, T* grad_before, T* hidden, int64_t first, int64_t rows) const {
    drop(grad, first, rows);
    (gated ? loops.activation->swiglu_backward : loops.activation->gelu_backward)(grad, before, grad_before,
                                                                                  hidden, 0, rows, width);
    drop(hidden, first, rows);
  }

 private:
  void drop(T* x, int64_t first, int64_t rows) const {
    if (dropout.threshold == 0) return;
    DropoutPlan here = dropout;
    here.first_group = static_cast<uint64_t>(first * width / 64);
    loops.element->dropout_add(here, x, nullptr, x, 0, rows * width);
  }
};

}  // namespace modewise::ops
