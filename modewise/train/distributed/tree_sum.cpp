#include "modewise/train/distributed/tree_sum.h"

#include "modewise/core/error.h"

namespace modewise::train {
namespace {

/// left + right, in place if `left` is defined.
at::Tensor sum_of(at::Tensor left, const at::Tensor& right) {
  if (!left.defined() && !right.defined()) return {};
  // −0 + 0 is +0: zeros for undefined tensors must be added too.
  if (!left.defined()) return right.add(0);
  return right.defined() ? left.add_(right) : left.add_(0);
}

}  // namespace

void TreeSum::add(std::vector<at::Tensor> part) {
  Partial sum{1, std::move(part)};
  while (!partial_.empty() && partial_.back().parts == sum.parts) {
    for (size_t i = 0; i < sum.values.size(); ++i)
      partial_.back().values[i] = sum_of(partial_.back().values[i], sum.values[i]);
    sum = {2 * sum.parts, std::move(partial_.back().values)};
    partial_.pop_back();
  }
  partial_.push_back(std::move(sum));
}

at::Tensor TreeSum::with_last(size_t index, at::Tensor value) const {
  int64_t parts = 1;
  for (auto sum = partial_.rbegin(); sum != partial_.rend(); ++sum, parts *= 2) {
    require(sum->parts == parts, ErrorKind::internal, "the number of parts must be a power of two");
    value = sum_of(sum->values[index], value);
  }
  return value;
}

std::vector<at::Tensor> TreeSum::take() {
  require(partial_.size() == 1, ErrorKind::internal, "the number of parts must be a power of two");
  std::vector<at::Tensor> values = std::move(partial_.back().values);
  partial_.clear();
  return values;
}

}  // namespace modewise::train
