#pragma once
// Training task of language modelling: windows of packed documents (or recall samples), next-token cross
// entropy, and validation perplexity.

#include <memory>

#include "modewise/models/language_modeling/language_model.h"
#include "modewise/tasks/language_modeling/data.h"
#include "modewise/train/loop/module_task.h"

namespace modewise::tasks {

class LanguageModelingTask final : public train::ModuleTask {
 public:
  /// The arguments must outlive the task.
  LanguageModelingTask(const LanguageModelingConfig& config, const LanguageData& data,
                       models::LanguageModel& model);

  torch::nn::Module& module() override { return model_; }
  int64_t training_samples() const override;
  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override;
  std::unique_ptr<train::Batch> load_batch(std::span<const int64_t> samples, int64_t batch) const override;
  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override;
  std::vector<double> loss_counts(const train::Batch& batch) const override;
  at::Tensor sums(const train::Share& share) override;
  /// val_loss in nats per token, val_perplexity, val_bits_per_byte; for recall val_loss and val_accuracy.
  train::Metrics metrics_of(const at::Tensor& sums) override;
  train::Criterion criterion() const override { return {"val_loss", true}; }
  std::string data_hash() const override { return data_.hash; }

 private:
  const LanguageModelingConfig& config_;
  const LanguageData& data_;
  models::LanguageModel& model_;
  data::TokenWindows train_, validation_;
};

}  // namespace modewise::tasks
