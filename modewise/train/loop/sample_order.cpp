#include "modewise/train/loop/sample_order.h"

#include <algorithm>

#include "modewise/core/random.h"

namespace modewise::train {

SampleOrder::SampleOrder(int64_t samples, int64_t batch_size, bool drop_last, int64_t accumulate,
                         uint64_t seed)
    : samples_(samples),
      batch_size_(batch_size),
      batches_per_epoch_(drop_last ? samples / batch_size : (samples + batch_size - 1) / batch_size),
      accumulate_(accumulate),
      seed_(seed) {}

double SampleOrder::epochs(int64_t step) const {
  const int64_t length = steps_per_epoch();
  return length > 0 ? static_cast<double>(position(step)) / static_cast<double>(length) : 0;
}

int64_t SampleOrder::first_batch(int64_t step) const {
  const int64_t epoch = position(step) / steps_per_epoch(), within = position(step) % steps_per_epoch();
  return epoch * batches_per_epoch_ + within * accumulate_;
}

int64_t SampleOrder::samples_in(int64_t batch) const {
  const int64_t begin = (batch % batches_per_epoch_) * batch_size_;
  return std::min(batch_size_, samples_ - begin);
}

std::span<const int64_t> SampleOrder::samples_of(int64_t batch) {
  const int64_t epoch = batch / batches_per_epoch_;
  if (epoch != epoch_) {
    order_ = random_permutation(
        samples_, {.seed = seed_, .site = RandomSite::shuffle, .step = static_cast<uint64_t>(epoch)});
    epoch_ = epoch;
  }
  const auto begin = static_cast<size_t>((batch % batches_per_epoch_) * batch_size_);
  return std::span<const int64_t>(order_).subspan(begin, static_cast<size_t>(samples_in(batch)));
}

}  // namespace modewise::train
