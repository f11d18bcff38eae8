// Times a training step and inference of stacked HOT layers and prints the seconds of each repeat as JSON,
// with the peak memory of training beyond the memory before its first step, resident and in tensors:
// {"train": [...], "inference": [...], "resident_bytes": n, "tensor_bytes": n}. block_step.py alternates it
// with plain PyTorch.

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn.h>
#include <torch/nn/module.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "benchmarks/clock.h"
#include "benchmarks/resident_memory.h"
#include "modewise/core/allocator.h"
#include "modewise/nn/layers/block.h"
#include "modewise/ops/attention/tensor_blocks.h"
#include "modewise/ops/training/recompute_mode.h"
#include "modewise/train/loop/optimizer.h"
#include "tests/tensor_meter.h"

namespace modewise {
namespace {

struct Options {
  int64_t batch = 32, blocks = 2, width = 128, hidden = 512, heads = 8, repeats = 5;
  std::vector<int64_t> sizes = {21, 24}, rotary = {1};
  double dropout = 0.1;
  std::string precision = "float32";
  int threads = 0;
  bool processor_time = false, recompute = false;
};

Options parse(int argc, char** argv) {
  Options options;
  CLI::App app("Times stacked HOT layers");
  app.add_option("--batch", options.batch);
  app.add_option("--sizes", options.sizes);
  app.add_option("--blocks", options.blocks);
  app.add_option("--rotary", options.rotary);
  app.add_option("--width", options.width);
  app.add_option("--hidden", options.hidden);
  app.add_option("--heads", options.heads);
  app.add_option("--dropout", options.dropout);
  app.add_option("--precision", options.precision)->check(CLI::IsMember({"float32", "bf16"}));
  app.add_option("--threads", options.threads);
  app.add_option("--repeats", options.repeats);
  app.add_flag("--processor-time", options.processor_time,
               "measure the CPU time of one thread, for a busy machine");
  app.add_flag("--recompute", options.recompute, "recompute activations (train.recompute)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

class Stack : public torch::nn::Module {
 public:
  explicit Stack(const Options& o) {
    nn::Initializer init(0);
    for (int64_t i = 0; i < o.blocks; ++i) {
      ops::KroneckerAttentionOptions attention;
      attention.heads = o.heads;
      attention.rope_modes = o.rotary;
      blocks_.push_back(register_module(
          "block" + std::to_string(i),
          std::make_shared<nn::Block>(
              init, o.width,
              std::make_shared<nn::KroneckerAttention>(init, o.width, static_cast<int64_t>(o.sizes.size()),
                                                       true, o.dropout, attention),
              std::make_shared<nn::SwiGLU>(init, o.width, o.hidden), o.dropout, 0)));
    }
  }
  at::Tensor forward(at::Tensor x) {
    for (auto& block : blocks_) x = block->forward(x, std::nullopt);
    return x;
  }

 private:
  std::vector<std::shared_ptr<nn::Block>> blocks_;
};

std::vector<double> seconds(const Options& o, const std::function<void()>& action) {
  for (int warm = 0; warm < 2; ++warm) action();
  std::vector<double> out;
  for (int64_t i = 0; i < o.repeats; ++i) {
    const double start = seconds_now(o.processor_time);
    action();
    out.push_back(seconds_now(o.processor_time) - start);
  }
  return out;
}

void run(const Options& o) {
  if (o.threads > 0) at::set_num_threads(o.threads);
  Stack stack(o);
  std::vector<train::NamedTensor> parameters;
  for (const auto& item : stack.named_parameters()) parameters.push_back({item.key(), item.value()});
  train::Optimizer optimizer(std::move(parameters), {});
  std::vector<int64_t> shape = {o.batch};
  shape.insert(shape.end(), o.sizes.begin(), o.sizes.end());
  shape.push_back(o.width);
  at::Tensor x = at::randn(shape);
  if (o.precision == "bf16") x = x.to(at::kBFloat16);

  uint64_t step = 0;
  nlohmann::json result;
  const auto train_step = [&] {
    const ops::RecomputeGuard recompute(o.recompute);
    stack.train();
    nn::set_dropout_step(stack, 0, step++);
    const at::Tensor loss = stack.forward(x).to(at::kFloat).square().mean();
    loss.backward();
    optimizer.step({.learning_rate = 1e-3, .beta1 = 0.9});
    optimizer.clear_gradients();
  };
  result["resident_bytes"] = resident_peak([&] {
    const TensorMeter meter;
    train_step();  // allocates the optimizer's moments
    train_step();
    result["tensor_bytes"] = TensorMeter::peak();
  });
  result["train"] = seconds(o, train_step);
  result["inference"] = seconds(o, [&] {
    const at::NoGradGuard no_grad;
    stack.eval();
    stack.forward(x);
  });
  std::cout << result << "\n";
}

}  // namespace
}  // namespace modewise

int main(int argc, char** argv) {
  modewise::keep_freed_memory();  // like the program
  modewise::ops::keep_tensors_in_plain_blocks();
  modewise::run(modewise::parse(argc, argv));
  return 0;
}
