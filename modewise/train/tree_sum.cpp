#include "modewise/train/tree_sum.h"

#include "modewise/core/error.h"

namespace modewise::train {
namespace {

void add_into(std::vector<at::Tensor>& left, const std::vector<at::Tensor>& right) {
  for (size_t i = 0; i < left.size(); ++i) {
    if (!left[i].defined() && !right[i].defined()) continue;
    // −0 + 0 is 0: zeros that stand for nothing are added, too.
    if (!left[i].defined())
      left[i] = right[i].add(0);
    else if (right[i].defined())
      left[i].add_(right[i]);
    else
      left[i].add_(0);
  }
}

}  // namespace

void TreeSum::add(std::vector<at::Tensor> part) {
  Partial sum{1, std::move(part)};
  while (!partial_.empty() && partial_.back().parts == sum.parts) {
    add_into(partial_.back().values, sum.values);
    sum = {2 * sum.parts, std::move(partial_.back().values)};
    partial_.pop_back();
  }
  partial_.push_back(std::move(sum));
}

std::vector<at::Tensor> TreeSum::take() {
  require(partial_.size() == 1, ErrorKind::internal, "a tree has a power of two of parts");
  std::vector<at::Tensor> values = std::move(partial_.back().values);
  partial_.clear();
  return values;
}

}  // namespace modewise::train
