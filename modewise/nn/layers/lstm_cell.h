#pragma once
// LSTM cell (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000).

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

/// Hidden and cell state, both [B, D].
struct LstmState {
  at::Tensor hidden, cell;
};

/// State names, gate order (input, forget, candidate, output) and initial weights (uniform in ±1/√D) as in
/// torch.nn.LSTMCell.
class LstmCell : public torch::nn::Module {
 public:
  LstmCell(Initializer& init, int64_t in, int64_t width);

  /// x [B, in]: c' = σ(f) c + σ(i) tanh(g), h' = σ(o) tanh(c').
  LstmState forward(const at::Tensor& x, const LstmState& state) const;

 private:
  at::Tensor input_weight_, hidden_weight_, input_bias_, hidden_bias_;  // [4·D, in], [4·D, D], [4·D], [4·D]
};

}  // namespace modewise::nn
