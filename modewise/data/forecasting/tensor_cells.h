#pragma once
// Cells of a float32 or float64 tensor as doubles: a series is float32 where that loses nothing.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "modewise/core/error.h"

namespace modewise::data {

class TensorCells {
 public:
  /// `values` is contiguous and outlives the cells.
  explicit TensorCells(const at::Tensor& values)
      : floats_(values.scalar_type() == at::kFloat ? values.mutable_data_ptr<float>() : nullptr),
        doubles_(floats_ == nullptr ? values.mutable_data_ptr<double>() : nullptr) {
    require(values.is_contiguous(), ErrorKind::internal, "TensorCells: the tensor is not contiguous");
  }

  double operator[](int64_t cell) const {
    return floats_ != nullptr ? static_cast<double>(floats_[cell]) : doubles_[cell];
  }
  /// Rounds to float32 if the tensor is.
  void set(int64_t cell, double value) const {
    if (floats_ != nullptr)
      floats_[cell] = static_cast<float>(value);
    else
      doubles_[cell] = value;
  }

 private:
  float* floats_;
  double* doubles_;
};

}  // namespace modewise::data
