#pragma once
// Weights of a run: the one way to its checkpoints. Files are compared with their hashes, a damaged
// checkpoint is passed over with a warning, and a checkpoint of another run is refused.

#include <torch/nn/module.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "modewise/train/checkpoint/checkpoint.h"
#include "modewise/train/checkpoint/run_folder.h"

namespace modewise::train {

/// The newest checkpoint of `run` that is whole and passes `check`, none where it has none. Errors as
/// CheckpointStore::newest; a data error when it carries the identity of another run. Checkpoints and runs
/// without an identity (older ones) are accepted.
std::optional<Checkpoint> newest_checkpoint(const RunFolder& run, const CheckpointStore::Check& check = {});

/// A safetensors file of a run's newest whole checkpoint, and the step that its weights are from.
struct RunWeights {
  std::filesystem::path file;
  int64_t step = 0;
};
/// The best weights or, with `best` false, the latest; the latest with a warning where the run was not
/// evaluated yet. Throws no_input when the run has no checkpoint.
RunWeights run_weights(const RunFolder& run, bool best = true);
/// Loads run_weights() into `module`; the step that they are from.
int64_t load_weights(const torch::nn::Module& module, const RunFolder& run, bool best = true);

}  // namespace modewise::train
