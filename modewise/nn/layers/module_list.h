#pragma once
// Module lists: children numbered from 0, in the order in which they run.

#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

namespace modewise::nn {

template <class Item>
class ModuleList : public torch::nn::Module {
 public:
  void push_back(std::shared_ptr<Item> item) {
    register_module(std::to_string(list_.size()), item);
    list_.push_back(std::move(item));
  }
  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  Item& operator[](size_t i) const { return *list_[i]; }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::vector<std::shared_ptr<Item>> list_;
};

/// Container for children under the names of a Sequential in the original code.
class Sequence : public torch::nn::Module {};

}  // namespace modewise::nn
