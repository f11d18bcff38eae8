#include "modewise/train/loop/train_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "modewise/core/error.h"
#include "modewise/core/integer_bounds.h"

namespace modewise::train {

void OptimizerConfig::fields(Fields& f) {
  f.add_preset("name", name,
               "optimizer: adamw (decoupled weight decay) or adam (weight decay added to the gradient; sets "
               "weight_decay to 0, as in torch)",
               {.one_of = {"adamw", "adam"}}, [this] {
                 if (name == "adam") weight_decay = 0;
               });
  f.add("learning_rate", learning_rate, "peak learning rate", {.min = 0});
  f.add("weight_decay", weight_decay, "weight decay coefficient; 0: none", {.min = 0});
  f.add("betas", betas, "decay rates of the first and second moment", {.min = 0, .max = 1});
  f.add("epsilon", epsilon, "term added to the root of the second moment (eps)", {.min = 0});
  f.add("decay_norms", decay_norms, "weight decay for one-dimensional parameters (biases, norms) too");
}

void ScheduleConfig::fields(Fields& f) {
  f.add("name", name, "learning rate schedule: constant, cosine, step, type1 or one_cycle",
        {.one_of = {"constant", "cosine", "step", "type1", "one_cycle"}});
  f.add("warmup_steps", warmup_steps, "optimizer steps of linear warm-up to the peak learning rate",
        {.min = 0});
  f.add("min_ratio", min_ratio, "cosine: final learning rate as a fraction of the peak",
        {.min = 0, .max = 1});
  f.add("step_epochs", step_epochs, "step: epochs between reductions of the learning rate", {.min = 1});
  f.add("step_at", step_at,
        "step: epochs (from 0, ascending) at whose start the learning rate is reduced; empty: every "
        "step_epochs",
        {.min = 1});
  f.add("step_factor", step_factor, "step, type1: factor of the learning rate per reduction",
        {.min = 0, .max = 1});
  f.add("peak_at", peak_at, "one_cycle: fraction of the steps with rising learning rate",
        {.min = 0, .max = 1});
  f.add("start_divisor", start_divisor, "one_cycle: peak divided by initial learning rate", {.min = 1});
  f.add("end_divisor", end_divisor, "one_cycle: initial divided by final learning rate", {.min = 1});
  f.add("cycle_momentum", cycle_momentum, "one_cycle: cycle the first beta from 0.95 to 0.85 and back");
}

void TrainConfig::fields(Fields& f) {
  f.add("epochs", epochs, "passes over the training split; 0: evaluate only; -1: chosen by the task",
        {.min = -1});
  f.add("max_steps", max_steps, "maximum number of optimizer steps; 0: no limit", {.min = 0});
  f.add("batch_size", batch_size, "samples per batch", {.min = 1});
  f.add("seed", seed, "random seed of initial weights, shuffling, augmentation and dropout",
        {.min = 0, .max = kAnyInteger});
  f.add("drop_last", drop_last, "drop the last incomplete batch of an epoch");
  f.add("accumulate", accumulate, "gradient accumulation: batches per optimizer step", {.min = 1});
  f.add("shards", shards,
        "data-parallel shards per batch, a power of two: up to as many processes share the work with the "
        "same bits",
        {.min = 1, .max = 1024});
  f.add("clip_norm", clip_norm, "gradient clipping: maximum global gradient norm; 0: no clipping",
        {.min = 0});
  f.add("ema_decay", ema_decay,
        "decay of the exponential moving average (EMA) of the weights, which is evaluated and kept; 0: none",
        {.min = 0, .max = 0.9999999});
  f.add(
      "patience", patience,
      "early stopping: evaluations without improvement before training stops; 0: off; -1: chosen by the task",
      {.min = -1});
  f.add("min_delta", min_delta, "minimum improvement of the criterion that counts", {.min = 0});
  f.add("evaluations_per_epoch", evaluations_per_epoch, "evaluations per epoch, evenly spaced", {.min = 1});
  f.add("log_every_steps", log_every_steps,
        "steps between additional log lines of the training loss; 0: at evaluations only", {.min = 0});
  f.add("prefetch", prefetch, "batches loaded ahead", {.min = 1, .max = 1024});
  f.add("device", device,
        "device of the model: auto (CUDA if torch has it, else the CPU), cpu, cuda or cuda:N");
  f.add("recompute", recompute,
        "activation checkpointing: recompute activations in the backward pass, for less memory, more "
        "time and the same bits");
  f.add("checkpoint_every_steps", checkpoint_every_steps,
        "steps between checkpoints, besides one at each evaluation; 0: none", {.min = 0});
  f.add("checkpoint_every_minutes", checkpoint_every_minutes, "minutes between checkpoints; 0: none",
        {.min = 0});
  f.add("test", test, "evaluate the test split after training; false: leave it to modewise evaluate");
  f.add("track", track,
        "quantities recorded at each evaluation besides the metrics: stable_rank (of the attention matrices)",
        {.one_of = {"stable_rank"}});
  f.add("keep_checkpoints", keep_checkpoints, "number of checkpoints to keep", {.min = 1});
  f.add("timeout", timeout,
        "torchrun: minutes after which a process that waits for another one ends the training",
        {.min = 0.05, .max = 10'000});
  f.group("optimizer", optimizer);
  f.group("schedule", schedule);
}

void TrainConfig::output_fields(Fields& f) {
  f.add("output.tensorboard", tensorboard,
        "TensorBoard event files with losses, learning rate, gradient norm, metrics and figures");
}

void TrainConfig::validate() const {
  TrainConfig copy = *this;
  fields_of(copy).validate("train");
  require(std::has_single_bit(static_cast<uint64_t>(shards)), ErrorKind::config,
          "train: shards must be a power of two, got {}", shards);
  require(shards <= batch_size, ErrorKind::config, "train: shards = {} must not exceed batch_size = {}",
          shards, batch_size);
  require(optimizer.betas.size() == 2, ErrorKind::config,
          "train: optimizer.betas must be two numbers, got {}", optimizer.betas.size());
  require(optimizer.betas[0] < 1 && optimizer.betas[1] < 1, ErrorKind::config,
          "train: optimizer.betas must be below 1, got {} and {}", optimizer.betas[0], optimizer.betas[1]);
  const std::vector<int64_t>& cuts = schedule.step_at;
  require(std::is_sorted(cuts.begin(), cuts.end(), std::less_equal<>()), ErrorKind::config,
          "train: schedule.step_at must be ascending, got [{}]", fmt::join(cuts, ", "));
  require(cuts.empty() || schedule.step_epochs == 1, ErrorKind::config,
          "train: schedule.step_epochs = {} has no effect with schedule.step_at = [{}]", schedule.step_epochs,
          fmt::join(cuts, ", "));
}

bool changes_numbers(std::string_view field_path) {
  constexpr std::array<std::string_view, 8> harmless = {
      "device",           "prefetch", "recompute", "checkpoint_every_steps", "checkpoint_every_minutes",
      "keep_checkpoints", "timeout",  "test"};
  for (const std::string_view name : harmless)
    if (field_path == name) return false;
  return true;
}

}  // namespace modewise::train
