#pragma once
// The processes that train one model together. What they decide they decide alike; what they write the lead
// writes: the lock, metrics, checkpoints and reports of a run.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace modewise::train {

class Workers {
 public:
  virtual ~Workers() = default;

  virtual int64_t rank() const = 0;  // of this process, from 0
  virtual int64_t size() const = 0;
  bool leads() const { return rank() == 0; }

  /// Adds `values` of all processes in the order of their ranks, in place: the same bits everywhere.
  virtual void add(at::Tensor& values) = 0;
  /// The largest of all, everywhere.
  virtual int64_t largest(int64_t value) = 0;
};

/// One process that trains by itself.
Workers& alone();

}  // namespace modewise::train
