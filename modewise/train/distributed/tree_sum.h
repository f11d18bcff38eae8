#pragma once
// Sums whose order is fixed by the number of their parts alone, so that processes can share them.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace modewise::train {

/// Adds lists of tensors along one binary tree over their order: ((0 + 1) + (2 + 3)) + … It keeps as many
/// partial sums as the tree is high. A tensor that is undefined in a list counts as zeros.
class TreeSum {
 public:
  /// The next part; it is added to in place.
  void add(std::vector<at::Tensor> part);
  /// The sum of all parts, whose number must be a power of two. Nothing is left.
  std::vector<at::Tensor> take();
  /// The sum of tensor `index` over all parts but one, which were added, and over the last, whose `value` is
  /// it; once for each tensor, as sums are made in place.
  at::Tensor with_last(size_t index, at::Tensor value) const;

 private:
  struct Partial {
    int64_t parts;
    std::vector<at::Tensor> values;
  };
  std::vector<Partial> partial_;
};

}  // namespace modewise::train
