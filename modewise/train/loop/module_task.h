#pragma once
// Task base class for models that are libtorch modules.

#include <torch/nn/module.h>

#include "modewise/train/checkpoint/tensor_file.h"
#include "modewise/train/loop/task.h"

namespace modewise::train {

class ModuleTask : public Task {
 public:
  virtual torch::nn::Module& module() = 0;

  std::vector<NamedTensor> tensors() override { return module_tensors(module()); }
  std::vector<NamedTensor> trained() override { return trainable_parameters(module()); }
  std::vector<NamedTensor> running_statistics() override {
    std::vector<NamedTensor> out;
    for (NamedTensor& one : module_tensors(module()))
      if (one.name.ends_with("running_mean") || one.name.ends_with("running_var"))
        out.push_back(std::move(one));
    return out;
  }
  void set_training(bool training) override { module().train(training); }
};

}  // namespace modewise::train
