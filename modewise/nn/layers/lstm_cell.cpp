#include "modewise/nn/layers/lstm_cell.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/sigmoid.h>

#include <cmath>

#include "modewise/ops/dense/elementary.h"
#include "modewise/ops/dense/linear.h"

namespace modewise::nn {

LstmCell::LstmCell(Initializer& init, int64_t in, int64_t width) {
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  input_weight_ = register_parameter("weight_ih", init.uniform({4 * width, in}, bound));
  hidden_weight_ = register_parameter("weight_hh", init.uniform({4 * width, width}, bound));
  input_bias_ = register_parameter("bias_ih", init.uniform({4 * width}, bound));
  hidden_bias_ = register_parameter("bias_hh", init.uniform({4 * width}, bound));
}

LstmState LstmCell::forward(const at::Tensor& x, const LstmState& state) const {
  const at::Tensor sums =
      ops::linear(x, input_weight_, input_bias_) + ops::linear(state.hidden, hidden_weight_, hidden_bias_);
  const auto gates = sums.chunk(4, -1);
  const at::Tensor cell =
      at::sigmoid(gates[1]) * state.cell + at::sigmoid(gates[0]) * ops::elementary(gates[2], "tanh");
  return {at::sigmoid(gates[3]) * ops::elementary(cell, "tanh"), cell};
}

}  // namespace modewise::nn
