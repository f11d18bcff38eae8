#pragma once
// Storage of series samples: all values in one block of memory, as many short samples as a file has.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace modewise::data {

/// Samples of V variables and their own lengths, each [V, T_i]. Copies share the values, as copies of tensors
/// do. Besides the values: nothing for samples of equal length, else 8 bytes per sample.
class SeriesSamples {
 public:
  SeriesSamples() = default;
  /// `values`: the samples one after another; `lengths`: T_i.
  SeriesSamples(int64_t variables, std::vector<float> values, std::span<const int32_t> lengths);

  size_t size() const { return count_; }
  int64_t variables() const { return variables_; }
  int64_t steps(size_t sample) const;
  /// Whether all samples have `steps` steps.
  bool all_have(int64_t steps) const;
  int64_t longest() const;
  int64_t shortest() const;

  /// The values of a sample, variable after variable.
  std::span<float> values(size_t sample) const;
  /// A tensor [V, T_i] of the same memory.
  at::Tensor operator[](size_t sample) const;

  void push_back(const at::Tensor& series);  // [V, T_i] float32
  void append(SeriesSamples other);
  /// Keeps only these samples, in ascending order.
  void keep(std::span<const int64_t> samples);

 private:
  size_t begin(size_t sample) const;
  void add_length(int64_t steps);

  int64_t variables_ = 0, equal_steps_ = 0;
  size_t count_ = 0;
  std::shared_ptr<std::vector<float>> values_ = std::make_shared<std::vector<float>>();
  std::vector<uint64_t> ends_;  // of each sample in the values; empty if all have equal_steps_
};

}  // namespace modewise::data
