#include "modewise/tasks/language_modeling/task.h"

#include "modewise/core/error.h"
#include "modewise/core/random.h"
#include "modewise/nn/layers/device.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/ops/training/language_loss.h"
#include "modewise/tasks/language_modeling/scores.h"

namespace modewise::tasks {
namespace {

struct LanguageBatch final : train::Batch {
  data::TokenBatch tokens;
};

}  // namespace

LanguageModelingTask::LanguageModelingTask(const LanguageModelingConfig& config, const LanguageData& data,
                                           models::LanguageModel& model)
    : config_(config), data_(data), model_(model) {
  if (config.data.is_recall()) return;
  train_ = data::TokenWindows("training", data.stream("train"), config.model.context);
  const data::TokenStream held_back = data.stream("validation");
  require(held_back.size() > 1, ErrorKind::data,
          "{}: there is no validation text; set data.split_ratios or data.validation", data.set.source);
  validation_ =
      data::TokenWindows("validation", held_back, std::min(config.model.context, held_back.size() - 1));
}

int64_t LanguageModelingTask::training_samples() const {
  return config_.data.is_recall() ? config_.data.recall.samples : train_.size();
}

std::unique_ptr<train::Batch> LanguageModelingTask::load(std::span<const int64_t> samples) const {
  return load_batch(samples, 0);
}

std::unique_ptr<train::Batch> LanguageModelingTask::load_batch(std::span<const int64_t> samples,
                                                               int64_t number) const {
  auto batch = std::make_unique<LanguageBatch>();
  if (config_.data.is_recall()) {
    // Every training batch has new samples, so that nothing can be memorized.
    const int64_t first = number * config_.train.batch_size;
    std::vector<data::RecallSample> made;
    for (size_t i = 0; i < samples.size(); ++i)
      made.push_back(recall_sample(config_, "train", first + static_cast<int64_t>(i)));
    batch->tokens = data::recall_batch(made);
    return batch;
  }
  const RandomStream stream{static_cast<uint64_t>(config_.train.seed), RandomSite::augmentation,
                            static_cast<uint64_t>(number)};
  const int64_t shift = config_.data.shift ? stream.word(0) % config_.model.context : 0;
  batch->tokens = train_.gather(samples, shift);
  return batch;
}

at::Tensor LanguageModelingTask::loss(const train::Batch& batch, uint64_t seed, uint64_t step) {
  const data::TokenBatch& tokens = static_cast<const LanguageBatch&>(batch).tokens;
  nn::set_dropout_step(model_, seed, step);
  const at::Tensor hidden = model_.hidden(tokens.inputs);
  return ops::language_loss(hidden, model_.head_weight(), nn::placed(tokens.targets, hidden.device()));
}

std::vector<double> LanguageModelingTask::loss_counts(const train::Batch& batch) const {
  const at::Tensor& targets = static_cast<const LanguageBatch&>(batch).tokens.targets;
  return {static_cast<double>(targets.ge(0).sum().item<int64_t>())};
}

at::Tensor LanguageModelingTask::sums(const train::Share& share) {
  if (config_.data.is_recall()) {
    const RecallScores scores = score_recall(model_, config_, "validation", share);
    return at::tensor(
        {scores.loss, static_cast<double>(scores.all.asked), static_cast<double>(scores.all.right)});
  }
  const TokenScores scores = score_windows(
      model_, validation_, {config_.language.evaluation_batch, config_.language.validation_tokens}, share);
  return at::tensor({scores.loss, static_cast<double>(scores.tokens)});
}

train::Metrics LanguageModelingTask::metrics_of(const at::Tensor& sums) {
  const double* sum = sums.const_data_ptr<double>();
  if (config_.data.is_recall()) {
    RecallScores scores;
    scores.loss = sum[0];
    scores.all = {static_cast<int64_t>(sum[1]), static_cast<int64_t>(sum[2])};
    return {{"val_loss", scores.mean_loss()}, {"val_accuracy", scores.accuracy()}};
  }
  TokenScores scores{.loss = sum[0], .tokens = static_cast<int64_t>(sum[1])};
  set_text(scores, validation_);
  return {{"val_loss", scores.mean_loss()},
          {"val_perplexity", scores.perplexity()},
          {"val_bits_per_byte", scores.bits_per_byte()}};
}

}  // namespace modewise::tasks
