#pragma once
// A module in evaluation mode for a scope.

#include <torch/nn/module.h>

namespace modewise::nn {

/// Puts a module into evaluation mode, and back into the mode in which it was.
class EvaluationMode {
 public:
  explicit EvaluationMode(torch::nn::Module& module) : module_(module), training_(module.is_training()) {
    module_.eval();
  }
  ~EvaluationMode() { module_.train(training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  torch::nn::Module& module_;
  bool training_;
};

}  // namespace modewise::nn
