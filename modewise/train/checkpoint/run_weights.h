#pragma once
// Weights of a run, loaded from its checkpoints: file hashes are verified, damaged checkpoints are skipped
// with a warning, and checkpoints of another run are rejected.

#include <torch/nn/module.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::train {

/// The newest intact checkpoint of `run` that passes `check`, or nothing. Errors as CheckpointStore::newest;
/// a data error if it has the run id of another run. Checkpoints and runs without a run id (older ones) are
/// accepted.
std::optional<Checkpoint> newest_checkpoint(const RunFolder& run, const CheckpointStore::Check& check = {});

/// A safetensors file of a run's newest intact checkpoint, and the training step of its weights.
struct RunWeights {
  std::filesystem::path file;
  int64_t step = 0;
};
/// The best weights or, with `best` false, the latest; falls back to the latest with a warning if the run was
/// not evaluated yet. Throws no_input if the run has no checkpoint.
RunWeights run_weights(const RunFolder& run, bool best = true);
/// Loads run_weights() into `module`; returns their training step.
int64_t load_weights(const torch::nn::Module& module, const RunFolder& run, bool best = true);

}  // namespace modewise::train
