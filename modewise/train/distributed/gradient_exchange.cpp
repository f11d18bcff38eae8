#include "modewise/train/distributed/gradient_exchange.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "modewise/core/error.h"

namespace modewise::train {
namespace {

constexpr int64_t kMessageBytes = 1 << 20;

}  // namespace

GradientExchange::GradientExchange(Workers& workers, std::vector<at::Tensor> like)
    : workers_(workers), like_(std::move(like)), brought_(like_.size()), own_(like_.size()) {
  if (workers_.size() == 1) return;
  std::vector<size_t> order(like_.size());
  std::iota(order.rbegin(), order.rend(),
            size_t{0});  // the backward pass produces the last layers' gradients first
  plan(order);
  sender_.emplace();
}

void GradientExchange::plan(const std::vector<size_t>& order) {
  messages_.clear();
  places_.assign(like_.size(), {});
  std::vector<int64_t> first(like_.size()), length;  // in elements, per tensor and per message
  for (const size_t index : order) {
    const at::Tensor& tensor = like_[index];
    const bool joins =
        !messages_.empty() && like_[messages_.back().tensors[0]].scalar_type() == tensor.scalar_type() &&
        like_[messages_.back().tensors[0]].device() == tensor.device() &&
        (length.back() + tensor.numel()) * static_cast<int64_t>(tensor.itemsize()) <= kMessageBytes;
    if (!joins) {
      messages_.emplace_back();
      length.push_back(0);
    }
    Message& message = messages_.back();
    places_[index].message = messages_.size() - 1;
    places_[index].number = message.tensors.size();
    first[index] = length.back();
    length.back() += tensor.numel();
    message.tensors.push_back(index);
  }
  for (size_t i = 0; i < messages_.size(); ++i) {
    Message& message = messages_[i];
    const int64_t count = std::ssize(message.tensors);
    message.values = at::empty({length[i] + count}, like_[message.tensors[0]].options().requires_grad(false));
    message.holders = message.values.narrow(0, length[i], count);
    message.holders.fill_(1);
    message.missing = message.tensors.size();
    for (const size_t index : message.tensors)
      places_[index].values =
          message.values.narrow(0, first[index], like_[index].numel()).view(like_[index].sizes());
  }
}

void GradientExchange::bring(size_t index, const at::Tensor& value) {
  require(!brought_[index], ErrorKind::internal, "tensor {} was added twice in one step", index);
  brought_[index] = true;
  arrived_.push_back(index);
  if (!sender_) {
    own_[index] = value;
    return;
  }
  const Place& place = places_[index];
  Message& message = messages_[place.message];
  if (value.defined()) {
    place.values.copy_(value);
  } else {
    place.values.zero_();
    message.holders.narrow(0, static_cast<int64_t>(place.number), 1).zero_();
  }
  --message.missing;
  for (; next_ < messages_.size() && messages_[next_].missing == 0; ++next_)
    sender_->give([this, &values = messages_[next_].values] { workers_.all_reduce_sum(values); });
}

std::vector<at::Tensor> GradientExchange::take() {
  require(arrived_.size() == like_.size(), ErrorKind::internal, "{} of a step's {} tensors were added",
          arrived_.size(), like_.size());
  std::vector<at::Tensor> sums(like_.size());
  if (sender_) {
    sender_->wait();
    for (Message& message : messages_) {
      const at::Tensor holders = message.holders.to(at::kCPU, at::kDouble);
      for (const size_t index : message.tensors)
        if (holders.const_data_ptr<double>()[places_[index].number] > 0) sums[index] = places_[index].values;
      message.holders.fill_(1);
      message.missing = message.tensors.size();
    }
    next_ = 0;
    if (!std::exchange(agreed_, true)) agree_on_order();
  } else {
    sums.swap(own_);
  }
  brought_.assign(like_.size(), false);
  arrived_.clear();
  return sums;
}

void GradientExchange::agree_on_order() {
  at::Tensor order = at::zeros({std::ssize(like_)}, at::kLong);
  auto* first = order.mutable_data_ptr<int64_t>();
  if (workers_.is_rank_zero()) std::copy(arrived_.begin(), arrived_.end(), first);
  workers_.all_reduce_sum(order);  // other ranks add 0
  plan({first, first + order.numel()});
}

}  // namespace modewise::train
