#pragma once
// Output head: pooling over the time mode and the final linear layer, from the tokens of a series to its
// outputs.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"

namespace modewise::nn {

enum class TimePooling {
  flatten,    // LayerNorm, all P tokens concatenated (as PatchTST)
  mean,       // mean of the valid tokens, LayerNorm (released HOT; its paper has no norm)
  attention,  // LayerNorm, attention pooling of the valid tokens, learned scores per head
};

/// Parses "flatten", "mean" or "attention"; a ValueError for another name.
TimePooling time_pooling(const std::string& name);

/// State names as released: 0 LayerNorm, 2 Linear.
class TimeHead : public torch::nn::Module {
 public:
  /// `norm`: with a LayerNorm.
  TimeHead(Initializer& init, TimePooling pooling, int64_t patches, int64_t width, int64_t heads,
           int64_t outputs, double dropout, bool norm = true);

  /// tokens [B, N_1 … N_j, P, D], mask [B, N_1 … N_j, P] bool or none -> [B, N_1 … N_j, outputs]
  at::Tensor forward(const at::Tensor& tokens, const std::optional<at::Tensor>& mask) const;
  void set_to_zero() { linear_->set_to_zero(); }

 private:
  at::Tensor normed(const at::Tensor& x) const { return norm_ ? norm_->forward(x) : x; }
  at::Tensor mean(const at::Tensor& tokens, const std::optional<at::Tensor>& mask) const;
  at::Tensor attend(const at::Tensor& tokens, const std::optional<at::Tensor>& mask) const;

  TimePooling pooling_;
  int64_t heads_;
  std::shared_ptr<LayerNorm> norm_;  // or null
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<Linear> linear_;
  std::shared_ptr<Linear> score_;  // attention pooling: D -> heads
};

}  // namespace modewise::nn
