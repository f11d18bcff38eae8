#pragma once
// Named tensors as a safetensors file, and back in place.

#include <torch/nn/module.h>

#include <filesystem>
#include <span>
#include <vector>

#include "modewise/io/arrays/safetensors.h"
#include "modewise/train/loop/task.h"

namespace modewise::train {

/// Parameters, then buffers of `module`, each tensor once, under its first dotted name.
std::vector<NamedTensor> module_tensors(const torch::nn::Module& module);
/// The parameters that ask for a gradient, each once.
std::vector<NamedTensor> trainable_parameters(const torch::nn::Module& module);

/// A safetensors file, which is written from the tensors' own memory.
io::SafetensorsWriter writer_of(std::span<const NamedTensor> tensors);

/// Copies the file's tensors into `into`. The same names, dtypes and shapes are wanted in both; else a data
/// error that names the file and the tensor, before anything was changed.
void load_tensors(const std::filesystem::path& path, std::span<const NamedTensor> into);

/// Detached copies under the same names.
std::vector<NamedTensor> copies_of(std::span<const NamedTensor> tensors);
/// Overwrites each of `into` by the tensor at the same place of `from`.
void copy_into(std::span<const NamedTensor> into, std::span<const NamedTensor> from);

}  // namespace modewise::train
