#include "modewise/tasks/classification/choose_epochs.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "modewise/train/loop/sample_order.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kMinSteps = 500, kMaxEpochs = 500, kUsualPatience = 20;

}  // namespace

void choose_epochs(train::TrainConfig& train, int64_t samples, int64_t usual) {
  const bool open_patience = train.patience < 0;
  if (open_patience) train.patience = kUsualPatience;
  if (train.epochs >= 0) return;
  const train::SampleOrder order(samples, train.batch_size, train.drop_last, train.accumulate, 0);
  const int64_t steps = std::max<int64_t>(order.steps_per_epoch(), 1);
  train.epochs = std::max(usual, std::min((kMinSteps + steps - 1) / steps, kMaxEpochs));
  if (train.epochs == usual) return;
  if (open_patience) train.patience = kUsualPatience * train.epochs / usual;
  spdlog::info("chosen for {} training samples: train.epochs = {}, {} optimizer steps{}", samples,
               train.epochs, train.epochs * steps,
               open_patience ? fmt::format(", train.patience = {}", train.patience) : "");
}

}  // namespace modewise::tasks
