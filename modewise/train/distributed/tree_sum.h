#pragma once
// Tree sums: their order depends only on the number of parts, so that any number of processes gets the same
// bits.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::train {

/// Adds lists of tensors along a binary tree: ((0 + 1) + (2 + 3)) + … Keeps one partial sum per level. An
/// undefined tensor counts as zeros.
class TreeSum {
 public:
  /// Adds the next part, which may be modified in place.
  void add(std::vector<at::Tensor> part);
  /// Returns the sum of all parts, whose number must be a power of two, and resets the tree.
  std::vector<at::Tensor> take();
  /// The sum of tensor `index` when all parts but the last were added and `value` is the last part's; call
  /// once per tensor, since sums are in place.
  at::Tensor with_last(size_t index, at::Tensor value) const;

 private:
  struct Partial {
    int64_t parts;
    std::vector<at::Tensor> values;
  };
  std::vector<Partial> partial_;
};

}  // namespace modewise::train
