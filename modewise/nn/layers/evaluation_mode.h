#pragma once
// Scope guard for evaluation mode.

#include <torch/nn/module.h>

namespace modewise::nn {

/// Sets a module to evaluation mode and restores its previous mode at the end of the scope.
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
