#pragma once
// What sets of labelled samples have in common, whatever a sample is: labels, classes, splits.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "modewise/io/arrays/npy.h"

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

/// Adds n labels, [n] or [n, 1] whole numbers from 0; a data error names the first that is none. `name` opens
/// the message.
void append_labels(LabelledSamples& set, const io::Array& array, int64_t samples, const std::string& name);
/// Gives the classes their names: `names`, else those they have, else as many numbers as the training samples
/// (all samples where none is training) need, two at least. A data error names a label beyond them.
void name_classes(LabelledSamples& set, const std::vector<std::string>& names);

/// Samples by label, from −1 (at 0) to the last class, each in the order of `samples`.
std::vector<std::vector<int64_t>> samples_by_class(const LabelledSamples& set,
                                                   std::span<const int64_t> samples);

/// Each class cut by the shares of training, validation and test, in an order that the seed alone decides.
/// `ratios` is the value of data.split_ratios, of which the config error speaks.
void split_by_class(LabelledSamples& set, const std::vector<double>& ratios, int64_t seed);
/// Takes a share of the training samples of each class for validation, in an order that the seed alone
/// decides.
void take_validation(LabelledSamples& set, double share, int64_t seed);
/// Puts training and validation samples together and takes as many of each class for validation as there
/// were, in an order that the seed alone decides.
void deal_validation(LabelledSamples& set, int64_t seed);

/// Takes the test samples out of the set; returns those that stay, by their numbers before.
std::vector<int64_t> leave_test_out(LabelledSamples& set);
/// The same, out of `samples` too, one a label.
void leave_test_out(LabelledSamples& set, std::vector<at::Tensor>& samples);

}  // namespace modewise::data
