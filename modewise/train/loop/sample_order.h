#pragma once
// Sample order: the samples of each batch and the batches of each step, computed from counts and seed only,
// so that a position in training is one number.

#include <cstdint>
#include <span>
#include <vector>

namespace modewise::train {

/// Batch numbers run through all epochs; epoch e is shuffled by
/// random_permutation(samples, {seed, RandomSite::shuffle, step e}). Not thread-safe.
class SampleOrder {
 public:
  SampleOrder(int64_t samples, int64_t batch_size, bool drop_last, int64_t accumulate, uint64_t seed);

  int64_t batches_per_epoch() const { return batches_per_epoch_; }
  /// Optimizer steps; an epoch's last step may have fewer batches than `accumulate`.
  int64_t steps_per_epoch() const { return (batches_per_epoch_ + accumulate_ - 1) / accumulate_; }
  /// Lets the epochs begin at step −`offset`: 0, unless a training was resumed with other batches.
  void set_offset(int64_t offset) { offset_ = offset; }
  /// Steps since the begin of the epochs, all of the present length.
  int64_t position(int64_t step) const { return step + offset_; }
  /// Epochs before a step; 0 without steps per epoch.
  double epochs(int64_t step) const;
  /// The step that begins an epoch.
  int64_t first_step(int64_t epoch) const { return epoch * steps_per_epoch() - offset_; }
  /// The first batch of an optimizer step; those of step s are first_batch(s) … first_batch(s + 1) − 1.
  int64_t first_batch(int64_t step) const;
  int64_t samples_in(int64_t batch) const;
  /// The samples of a batch, valid until the next call.
  std::span<const int64_t> samples_of(int64_t batch);

 private:
  int64_t samples_, batch_size_, batches_per_epoch_, accumulate_;
  uint64_t seed_;
  int64_t offset_ = 0, epoch_ = -1;
  std::vector<int64_t> order_;
};

}  // namespace modewise::train
