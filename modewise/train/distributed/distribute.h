#pragma once
// Work that processes share and one of them uses: forecasts of many windows, classes of a large scene.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "modewise/train/distributed/workers.h"

namespace modewise::train {

using Tensors = std::vector<at::Tensor>;

/// Has `count` items made, item i by worker i % size(), and taken by the lead, in their order, as one process
/// by itself would: what take() computes has the same bits for any number of workers when what make() gives
/// has. On the others take() is never called; they are done when the lead has taken everything. What all call
/// alike. A worker is at most one item ahead of what the lead has taken.
void distribute(Workers& workers, int64_t count, const std::function<Tensors(int64_t)>& make,
               const std::function<void(int64_t, const Tensors&)>& take);

}  // namespace modewise::train
