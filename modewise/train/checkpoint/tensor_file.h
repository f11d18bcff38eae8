#pragma once
// Named tensors saved to safetensors files and loaded in place.

#include <torch/nn/module.h>

#include <filesystem>
#include <span>
#include <vector>

#include "modewise/io/arrays/safetensors.h"
#include "modewise/train/loop/task.h"

namespace modewise::train {

/// Parameters, then buffers of `module`, each tensor once, under its first dotted name.
std::vector<NamedTensor> module_tensors(const torch::nn::Module& module);
/// The parameters that require a gradient, each once.
std::vector<NamedTensor> trainable_parameters(const torch::nn::Module& module);

/// A safetensors file, written directly from the tensors' memory.
io::SafetensorsWriter writer_of(std::span<const NamedTensor> tensors);

/// Copies the file's tensors into `into`. Names, dtypes and shapes must match exactly; otherwise a data error
/// names the file and the tensor, and nothing is changed.
void load_tensors(const std::filesystem::path& path, std::span<const NamedTensor> into);

/// Detached copies under the same names.
std::vector<NamedTensor> copies_of(std::span<const NamedTensor> tensors);
/// Copies each tensor of `from` into the tensor of `into` at the same index.
void copy_into(std::span<const NamedTensor> into, std::span<const NamedTensor> from);

}  // namespace modewise::train
