#include "modewise/train/distributed/thread_check.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <cstring>

#include "modewise/train/checkpoint/tensor_file.h"

namespace modewise::train {
namespace {

struct ThreadCount {  // restores the thread count
  const int before = at::get_num_threads();
  ThreadCount() = default;
  ~ThreadCount() { at::set_num_threads(before); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
};

/// The loss, then the gradients from the last parameter to the first.
std::vector<NamedTensor> one_step(Task& task, const Batch& batch, uint64_t seed,
                                  std::span<const NamedTensor> parameters) {
  for (const NamedTensor& parameter : parameters) parameter.tensor.mutable_grad().reset();
  const at::Tensor loss = task.loss(batch, seed, 0);
  loss.backward();
  std::vector<NamedTensor> values = {{"the loss", loss.detach().clone()}};
  for (size_t i = parameters.size(); i-- > 0;) {
    const at::Tensor& gradient = parameters[i].tensor.grad();
    values.push_back(
        {fmt::format("the gradient of parameter '{}'", parameters[i].name),
         gradient.defined() ? gradient.contiguous().clone() : at::zeros_like(parameters[i].tensor)});
  }
  return values;
}

bool same_bits(const at::Tensor& given_a, const at::Tensor& given_b) {
  const at::Tensor a = given_a.cpu(), b = given_b.cpu();
  return std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

}  // namespace

std::string thread_dependence(Task& task, std::span<const int64_t> samples, uint64_t seed, int max_threads) {
  const ThreadCount restored;
  const std::vector<NamedTensor> parameters = task.trained();
  std::vector<at::Tensor> gradients;
  for (const NamedTensor& parameter : parameters) gradients.push_back(parameter.tensor.grad());
  const std::unique_ptr<Batch> batch = task.load(samples);
  task.set_training(true);
  std::vector<NamedTensor> wanted;
  std::string found;
  for (int threads = 1; threads <= max_threads && found.empty(); ++threads) {
    at::set_num_threads(threads);
    const std::vector<NamedTensor> values = one_step(task, *batch, seed, parameters);
    if (threads == 1) wanted = values;
    for (size_t i = 0; i < values.size() && found.empty(); ++i)
      if (!same_bits(values[i].tensor, wanted[i].tensor))
        found = fmt::format("{} differs between 1 and {} threads", values[i].name, threads);
  }
  for (size_t i = 0; i < parameters.size(); ++i) parameters[i].tensor.mutable_grad() = gradients[i];
  return found;
}

}  // namespace modewise::train
