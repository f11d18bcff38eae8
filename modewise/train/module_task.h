#pragma once
// A task whose model is a module of libtorch.

#include <torch/nn/module.h>

#include "modewise/train/task.h"
#include "modewise/train/tensor_file.h"

namespace modewise::train {

class ModuleTask : public Task {
 public:
  virtual torch::nn::Module& module() = 0;

  std::vector<NamedTensor> tensors() override { return module_tensors(module()); }
  std::vector<NamedTensor> trained() override { return trainable_parameters(module()); }
  void set_training(bool training) override { module().train(training); }
};

}  // namespace modewise::train
