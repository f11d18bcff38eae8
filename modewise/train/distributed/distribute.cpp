#include "modewise/train/distributed/distribute.h"

#include <ATen/ops/full.h>

namespace modewise::train {
namespace {

void send(Workers& workers, const Tensors& item) {
  workers.send(at::full({1}, std::ssize(item), at::kLong), 0);
  for (const at::Tensor& one : item) workers.send(one, 0);
}

Tensors receive(Workers& workers, int64_t from) {
  Tensors item(static_cast<size_t>(workers.receive(from).item<int64_t>()));
  for (at::Tensor& one : item) one = workers.receive(from);
  return item;
}

}  // namespace

void distribute(Workers& workers, int64_t count, const std::function<Tensors(int64_t)>& make,
                const std::function<void(int64_t, const Tensors&)>& take) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t maker = i % workers.size();
    if (workers.is_rank_zero())
      take(i, maker == 0 ? make(i) : receive(workers, maker));
    else if (maker == workers.rank())
      send(workers, make(i));
  }
  workers.all_reduce_max(0);  // barrier: rank 0 may still read what it was sent
}

}  // namespace modewise::train
