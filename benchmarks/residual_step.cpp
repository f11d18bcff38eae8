// Times a training step and inference of the program's ResNet-18 on volumes and prints the seconds of each
// repeat as JSON: {"train": [...], "inference": [...]}. residual_step.py alternates it with plain PyTorch.

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "benchmarks/clock.h"
#include "modewise/core/allocator.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/vision_classifier.h"
#include "modewise/ops/attention/tensor_blocks.h"
#include "modewise/train/loop/optimizer.h"

namespace modewise {
namespace {

struct Options {
  int64_t batch = 8, size = 28, width = 64, repeats = 3;
  int threads = 1;
  bool processor_time = false;
};

Options parse(int argc, char** argv) {
  Options options;
  CLI::App app("Times ResNet-18 on volumes");
  app.add_option("--batch", options.batch);
  app.add_option("--size", options.size, "voxels per axis");
  app.add_option("--width", options.width, "channels of the first stage");
  app.add_option("--threads", options.threads);
  app.add_option("--repeats", options.repeats);
  app.add_flag("--processor-time", options.processor_time,
               "measure the CPU time of one thread, for a busy machine");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

std::vector<double> seconds(const Options& o, const std::function<void()>& action) {
  action();
  std::vector<double> out;
  for (int64_t i = 0; i < o.repeats; ++i) {
    const double start = seconds_now(o.processor_time);
    action();
    out.push_back(seconds_now(o.processor_time) - start);
  }
  return out;
}

void run(const Options& o) {
  at::set_num_threads(o.threads);
  models::VisionModelConfig config;
  config.use_model("resnet18");
  config.resnet.width = o.width;
  const auto model = models::make_vision_classifier(
      config, {.size = {o.size, o.size, o.size}, .channels = 1, .classes = 2}, 0);
  std::vector<train::NamedTensor> parameters;
  for (const auto& item : model->named_parameters()) parameters.push_back({item.key(), item.value()});
  train::Optimizer optimizer(std::move(parameters), {});
  const models::ClassifierInput input = {at::randn({o.batch, o.size, o.size, o.size, 1}), {}};
  const at::Tensor classes = at::randint(2, {o.batch}, at::kLong);
  nlohmann::json result;
  result["train"] = seconds(o, [&] {
    model->train();
    at::cross_entropy_loss(model->forward(input), classes).backward();
    optimizer.step({.learning_rate = 1e-3, .beta1 = 0.9});
    optimizer.clear_gradients();
  });
  result["inference"] = seconds(o, [&] {
    const at::NoGradGuard no_grad;
    model->eval();
    model->forward(input);
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
