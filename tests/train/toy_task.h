#pragma once
// Toy task for the trainer tests: a two-layer network with counter-based dropout on synthetic data, the same
// bits for any number of threads.

#include <functional>

#include "modewise/train/loop/module_task.h"

namespace modewise::train {

class ToyNet : public torch::nn::Module {
 public:
  explicit ToyNet(uint64_t seed);
  /// [B, 8] → [B, 5]
  at::Tensor forward(const at::Tensor& x, double dropout, uint64_t seed, uint64_t step);

  at::Tensor first_weight, first_bias, norm_weight, second_weight, second_bias;
  at::Tensor hidden_mean;  // a running statistic, as in batch normalisation
};

class ToyTask : public ModuleTask {
 public:
  explicit ToyTask(int64_t samples = 150, uint64_t seed = 1);

  torch::nn::Module& module() override { return *net; }
  int64_t training_samples() const override { return inputs_.size(0); }
  std::unique_ptr<Batch> load(std::span<const int64_t> samples) const override;
  at::Tensor loss(const Batch& batch, uint64_t seed, uint64_t step) override;
  std::vector<double> loss_counts(const Batch& batch) const override;
  std::vector<NamedTensor> running_statistics() override { return {{"hidden_mean", net->hidden_mean}}; }
  at::Tensor sums(const Share& share) override;
  Metrics metrics_of(const at::Tensor& sums) override;
  Criterion criterion() const override { return {"val_mse", true}; }
  nlohmann::json state() const override { return {{"evaluations", evaluations}}; }
  void load_state(const nlohmann::json& state) override { state.at("evaluations").get_to(evaluations); }
  std::vector<NamedTensor> extra_tensors() override { return {{"seen", seen}}; }
  std::string data_hash() const override { return "toy"; }

  std::shared_ptr<ToyNet> net;
  int64_t evaluations = 0;
  at::Tensor seen;  // int64 [1]: training forward passes
  double dropout = 0.2;
  std::function<void(uint64_t step)> on_loss;
  std::function<void(Metrics&)> on_evaluate;
  std::function<void(std::span<const int64_t>)> on_load;

 private:
  at::Tensor inputs_, targets_;
};

}  // namespace modewise::train
