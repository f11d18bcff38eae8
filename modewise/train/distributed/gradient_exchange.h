#pragma once
// Bucketed all-reduce of a step's gradients, overlapped with the backward pass.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "modewise/train/distributed/side_thread.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::train {

/// Tensors are sent in messages (buckets) of one dtype and device and about a MiB, in the same order on all
/// workers: the order in which rank 0 had them at the first step. A message is sent once its last tensor is
/// ready and the messages before it are sent. Sums are elementwise, so neither order nor bucketing affects
/// their bits.
class GradientExchange {
 public:
  /// For tensors of the shapes and dtypes of `like`, equal on all workers.
  GradientExchange(Workers& workers, std::vector<at::Tensor> like);

  /// Adds this worker's value of tensor `index`, once per step. An undefined value counts as zeros.
  void bring(size_t index, const at::Tensor& value);
  bool brought(size_t index) const { return brought_[index]; }

  /// The step's sums over all workers, once all tensors were added: valid until the next bring(). A tensor
  /// that is undefined everywhere stays undefined. Rethrows errors of the workers.
  std::vector<at::Tensor> take();

 private:
  struct Message {
    at::Tensor values;   // the concatenated tensors, then `holders`
    at::Tensor holders;  // per tensor, the number of workers with a value
    std::vector<size_t> tensors;
    size_t missing = 0;  // tensors not added yet
  };
  struct Place {
    size_t message = 0, number = 0;  // the tensor's number in the message
    at::Tensor values;               // its view of the message
  };

  void plan(const std::vector<size_t>& order);
  void agree_on_order();

  Workers& workers_;
  const std::vector<at::Tensor> like_;
  std::vector<Message> messages_;
  std::vector<Place> places_;    // per tensor
  std::vector<bool> brought_;    // per tensor, in this step
  std::vector<size_t> arrived_;  // tensors in order of arrival
  size_t next_ = 0;              // the first message not sent yet
  bool agreed_ = false;
  std::vector<at::Tensor> own_;  // the values of a single process
  std::optional<OrderedJobs>
      sender_;  // last: stops before the messages are destroyed; none for a single process
};

}  // namespace modewise::train
