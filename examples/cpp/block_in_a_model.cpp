// A modewise block inside a libtorch model. The model learns, for each cell of a table, the mean of its row
// minus the mean of its column, which depends on other cells.

#include <torch/torch.h>

#include <cstdio>

#include "modewise/nn/layers/block.h"

namespace nn = modewise::nn;

class TableModel : public torch::nn::Module {
 public:
  explicit TableModel(int64_t width) : embed_(1, width), head_(width, 1) {
    nn::Initializer weights(7);
    modewise::ops::KroneckerAttentionOptions options;
    options.heads = 4;
    options.combine = modewise::ops::Combine::sum;
    const auto attention = std::make_shared<nn::KroneckerAttention>(weights, width, 2, true, 0.0, options);
    const auto network = std::make_shared<nn::SwiGLU>(weights, width, 2 * width);
    block_ = std::make_shared<nn::Block>(weights, width, attention, network, 0.0, 0.0);
    register_module("embed", embed_);
    register_module("block", block_);
    register_module("head", head_);
  }

  /// tables [B, N_1, N_2] -> [B, N_1, N_2]
  torch::Tensor forward(const torch::Tensor& tables) {
    return head_(block_->forward(embed_(tables.unsqueeze(-1)), {})).squeeze(-1);
  }

 private:
  torch::nn::Linear embed_, head_;
  std::shared_ptr<nn::Block> block_;
};

int main() {
  torch::manual_seed(0);
  TableModel model(16);
  torch::optim::Adam optimizer(model.parameters(), 0.01);
  double first = 0, last = 0;
  for (int step = 0; step < 200; ++step) {
    const torch::Tensor tables = torch::randn({32, 5, 7});
    const torch::Tensor wanted = tables.mean(2, true) - tables.mean(1, true);
    const torch::Tensor loss = torch::mse_loss(model.forward(tables), wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    (step == 0 ? first : last) = loss.item<double>();
  }
  std::printf("parameters: %zu tensors, of the block %zu\n", model.parameters().size(),
              model.named_children()["block"]->parameters().size());
  std::printf("mean squared error: %.4f at the first step, %.4f at the last\n", first, last);
  return 0;
}
