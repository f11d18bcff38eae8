#pragma once
// Residual block of TiDE (Das et al., TMLR 2023, section 4): a ReLU hidden layer with a linear skip
// connection.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>

#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/layer_norm.h"
#include "modewise/nn/layers/linear.h"

namespace modewise::nn {

class ResidualBlock : public torch::nn::Module {
 public:
  /// norm(dropout(out relu(hidden x)) + skip x); no norm if `norm` is false.
  ResidualBlock(Initializer& init, int64_t in, int64_t hidden, int64_t out, double dropout, bool norm);

  /// [..., in] -> [..., out]
  at::Tensor forward(const at::Tensor& x) const;

 private:
  std::shared_ptr<Linear> hidden_, out_, skip_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<LayerNorm> norm_;
};

}  // namespace modewise::nn
