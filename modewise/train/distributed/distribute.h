#pragma once
// Work distributed over processes and gathered on rank 0: forecasts of many windows, classes of a large
// image.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "modewise/train/distributed/workers.h"

namespace modewise::train {

using Tensors = std::vector<at::Tensor>;

/// Computes `count` items, item i on rank i % size(), and calls take() on rank 0 in order, as a single
/// process would: its result has the same bits for any number of workers if make()'s has. Other ranks never
/// call take() and return when rank 0 has taken everything. Collective: all ranks call it with the same
/// arguments. A worker is at most one item ahead of rank 0.
void distribute(Workers& workers, int64_t count, const std::function<Tensors(int64_t)>& make,
                const std::function<void(int64_t, const Tensors&)>& take);

}  // namespace modewise::train
