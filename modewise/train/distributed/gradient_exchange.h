#pragma once
// Sums of a step's tensors over the workers, sent while the backward pass still makes the rest of them.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "modewise/train/distributed/side_thread.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::train {

/// Tensors travel in messages of one type and about a MiB, all workers' in one order: that in which the lead
/// had them at the first step. A message leaves when its last tensor is brought and the messages before it
/// have left. Sums are made element by element, so neither the order nor the messages show in their bits.
class GradientExchange {
 public:
  /// Tensors of the shapes and types of `like`, which is alike in all workers.
  GradientExchange(Workers& workers, std::vector<at::Tensor> like);

  /// This worker's value of tensor `index`, once a step. An undefined one counts as zeros.
  void bring(size_t index, const at::Tensor& value);
  bool brought(size_t index) const { return brought_[index]; }

  /// The step's sums along the workers' tree, when all tensors were brought: valid until the next bring().
  /// A tensor that is undefined everywhere stays so. Throws what the workers throw.
  std::vector<at::Tensor> take();

 private:
  struct Message {
    at::Tensor values;   // the tensors one behind the other, then `holders`
    at::Tensor holders;  // of each tensor the number of workers that have a value
    std::vector<size_t> tensors;
    size_t missing = 0;  // tensors that were not brought yet
  };
  struct Place {
    size_t message = 0, number = 0;  // the tensor's number in the message
    at::Tensor values;               // its part of the message
  };

  void plan(const std::vector<size_t>& order);
  void agree_on_order();

  Workers& workers_;
  const std::vector<at::Tensor> like_;
  std::vector<Message> messages_;
  std::vector<Place> places_;    // of each tensor
  std::vector<bool> brought_;    // of this step
  std::vector<size_t> arrived_;  // the same in order
  size_t next_ = 0;              // the first message that has not left
  bool agreed_ = false;
  std::vector<at::Tensor> own_;        // all there is, of one that works alone
  std::optional<OrderedJobs> sender_;  // last: ends before what it sends; none when alone
};

}  // namespace modewise::train
