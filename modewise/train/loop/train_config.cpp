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
  f.add("name", name, "adamw (decoupled weight decay) or adam (weight decay added to the gradient)",
        {.one_of = {"adamw", "adam"}});
  f.add("learning_rate", learning_rate, "peak learning rate", {.min = 0});
  f.add("weight_decay", weight_decay, "weight decay; 0 for none", {.min = 0});
  f.add("betas", betas, "decay of the first and the second moment", {.min = 0, .max = 1});
  f.add("epsilon", epsilon, "added to the root of the second moment", {.min = 0});
  f.add("decay_norms", decay_norms, "whether parameters of one dimension (biases, norms) decay too");
}

void ScheduleConfig::fields(Fields& f) {
  f.add("name", name, "how the learning rate goes: constant, cosine, step, type1 or one_cycle",
        {.one_of = {"constant", "cosine", "step", "type1", "one_cycle"}});
  f.add("warmup_steps", warmup_steps, "steps in which the learning rate rises linearly to its peak",
        {.min = 0});
  f.add("min_ratio", min_ratio, "cosine: the final learning rate as a part of the peak",
        {.min = 0, .max = 1});
  f.add("step_epochs", step_epochs, "step: epochs between two reductions", {.min = 1});
  f.add(
      "step_at", step_at,
      "step: epochs, from 0, before which the learning rate is reduced, ascending; empty: every step_epochs",
      {.min = 1});
  f.add("step_factor", step_factor, "step and type1: what the learning rate is multiplied by",
        {.min = 0, .max = 1});
  f.add("peak_at", peak_at, "one_cycle: part of the steps in which the learning rate rises",
        {.min = 0, .max = 1});
  f.add("start_divisor", start_divisor, "one_cycle: peak over first learning rate", {.min = 1});
  f.add("end_divisor", end_divisor, "one_cycle: first over final learning rate", {.min = 1});
  f.add("cycle_momentum", cycle_momentum, "one_cycle: the first beta goes from 0.95 to 0.85 and back");
}

void TrainConfig::fields(Fields& f) {
  f.add("epochs", epochs,
        "passes over the training samples; 0 only evaluates, -1: as many as the task chooses", {.min = -1});
  f.add("max_steps", max_steps, "at most this many optimizer steps; 0 for no limit", {.min = 0});
  f.add("batch_size", batch_size, "samples a batch", {.min = 1});
  f.add("seed", seed, "key of the shuffle and of the dropout", {.min = 0, .max = kAnyInteger});
  f.add("drop_last", drop_last, "leave out an epoch's last batch when it is not full");
  f.add("accumulate", accumulate, "batches whose gradients make one optimizer step", {.min = 1});
  f.add(
      "shards", shards,
      "parts that each batch is cut into, a power of two: as many processes or fewer share them and get the "
      "same bits",
      {.min = 1, .max = 1024});
  f.add("clip_norm", clip_norm, "largest norm of the whole gradient; 0 for no clipping", {.min = 0});
  f.add("ema_decay", ema_decay,
        "decay of the running average of the weights that is evaluated and kept; 0 for none",
        {.min = 0, .max = 0.9999999});
  f.add("patience", patience,
        "evaluations without improvement before training stops; 0 for no early stopping", {.min = 0});
  f.add("min_delta", min_delta, "by how much the criterion must improve to count", {.min = 0});
  f.add("evaluations_per_epoch", evaluations_per_epoch, "evaluations an epoch, evenly spaced", {.min = 1});
  f.add("log_every_steps", log_every_steps,
        "also write the training loss every so many steps; 0: at evaluations only", {.min = 0});
  f.add("prefetch", prefetch, "batches prepared ahead", {.min = 1, .max = 1024});
  f.add("recompute", recompute,
        "keep few activations for the backward pass and compute the others again there: less memory, more "
        "time, the same bits");
  f.add("checkpoint_every_steps", checkpoint_every_steps,
        "save every so many steps, besides at each evaluation; 0: not", {.min = 0});
  f.add("checkpoint_every_minutes", checkpoint_every_minutes, "save after so many minutes without; 0: not",
        {.min = 0});
  f.add("test", test,
        "judge on the test part after training; false: it is left unread, and modewise evaluate reads it");
  f.add("track", track,
        "what each evaluation records besides the metrics: stable_rank (of the attention matrices)",
        {.one_of = {"stable_rank"}});
  f.add("keep_checkpoints", keep_checkpoints, "checkpoints to keep", {.min = 1});
  f.group("optimizer", optimizer);
  f.group("schedule", schedule);
}

void TrainConfig::output_fields(Fields& f) {
  f.add("output.tensorboard", tensorboard,
        "write losses, learning rate, gradient norm, metrics and pictures as TensorBoard's event files");
}

void TrainConfig::validate() const {
  TrainConfig copy = *this;
  fields_of(copy).validate("train");
  require(std::has_single_bit(static_cast<uint64_t>(shards)), ErrorKind::config,
          "train: shards must be a power of two, got {}", shards);
  require(shards <= batch_size, ErrorKind::config,
          "train: shards = {} are more parts than batch_size = {} has samples", shards, batch_size);
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
  constexpr std::array<std::string_view, 6> harmless = {
      "prefetch",         "recompute", "checkpoint_every_steps", "checkpoint_every_minutes",
      "keep_checkpoints", "test"};
  for (const std::string_view name : harmless)
    if (field_path == name) return false;
  return true;
}

}  // namespace modewise::train
