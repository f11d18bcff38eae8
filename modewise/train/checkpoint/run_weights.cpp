#include "modewise/train/checkpoint/run_weights.h"

#include <spdlog/spdlog.h>

#include <string>

#include "modewise/core/error.h"
#include "modewise/train/checkpoint/tensor_file.h"
#include "modewise/train/checkpoint/training_files.h"

namespace modewise::train {
namespace {

constexpr const char *kBest = "best.safetensors", *kLatestWeights = "model.safetensors";

/// Data error if both have a run id and they differ.
void require_own(const RunFolder& run, const Checkpoint& checkpoint) {
  const std::string own = run.identity(), carried = run_of(checkpoint);
  require(own.empty() || carried.empty() || own == carried, ErrorKind::data,
          "{} is a checkpoint of another run: its state.json names run {}, but {} names run {}; move it back "
          "to the run "
          "that wrote it",
          checkpoint.folder.string(), carried, run.file("manifest.json").string(), own);
}

}  // namespace

std::optional<Checkpoint> newest_checkpoint(const RunFolder& run, const CheckpointStore::Check& check) {
  auto checkpoint = CheckpointStore(run.checkpoints()).newest(check);
  if (checkpoint) require_own(run, *checkpoint);
  return checkpoint;
}

RunWeights run_weights(const RunFolder& run, bool best) {
  const auto checkpoint = newest_checkpoint(run);
  require(checkpoint.has_value(), ErrorKind::no_input, "{} has no checkpoint yet", run.path().string());
  const bool use_best = best && checkpoint->has(kBest);
  if (best && !use_best)
    spdlog::warn("{} was not evaluated yet: using the weights of step {}", run.path().string(),
                 checkpoint->step);
  const char* name = use_best ? kBest : kLatestWeights;
  require(checkpoint->has(name), ErrorKind::data, "{} lists no {}",
          (checkpoint->folder / "manifest.json").string(), name);
  return {checkpoint->folder / name, use_best ? best_step_of(*checkpoint) : checkpoint->step};
}

int64_t load_weights(const torch::nn::Module& module, const RunFolder& run, bool best) {
  const RunWeights weights = run_weights(run, best);
  load_tensors(weights.file, module_tensors(module));
  return weights.step;
}

}  // namespace modewise::train
