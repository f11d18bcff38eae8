#pragma once
// What sets of labelled samples have in common, whatever a sample is: labels, classes, splits.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace modewise::data {

struct LabelledSamples {
  LabelledSamples(std::string sample, std::string samples)
      : one(std::move(sample)), many(std::move(samples)) {}

  std::string one, many;           // what a sample is called: "volume", "volumes"
  std::vector<int64_t> labels;     // −1 where unknown
  std::vector<std::string> names;  // of the samples: file, number within its split, "train 1"
  std::vector<std::string> classes;
  std::vector<int64_t> train, validation, test;  // samples of each split
  std::string source;
  std::vector<std::string> notes;  // what was done or missing; the first `warnings` of them deserve a warning
  size_t warnings = 0;

  /// Samples of a split ("train", "validation", "test", "all").
  std::vector<int64_t> split(const std::string& name) const;
  /// How many of `samples` have each label.
  std::vector<int64_t> class_counts(std::span<const int64_t> samples) const;
  /// A sample in a sentence: its name, behind what it is where that is a number.
  std::string called(int64_t sample) const;
};

/// B samples side by side; what values and masks are, the set says.
struct LabelledBatch {
  at::Tensor values;  // [B, …] float32, 0 where not valid
  at::Tensor valid;   // bool; undefined when the set has no masks
  at::Tensor labels;  // [B] int64
};

/// Takes the test samples out of the set and of `samples`, one a label.
void leave_test_out(LabelledSamples& set, std::vector<at::Tensor>& samples);

}  // namespace modewise::data
