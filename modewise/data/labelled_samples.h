#pragma once
// Labelled samples: labels, classes and splits, for samples of any type.

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modewise/core/counted.h"
#include "modewise/io/arrays/npy.h"

namespace modewise::data {

/// Sample names that are numbers within a file or split, such as "train 17"; they take no memory, or
/// 4 bytes per sample once some samples are removed.
class NumberedNames {
 public:
  /// Appends "part 1", "part 2", …
  void add(const std::string& part, size_t samples);
  std::string operator[](size_t sample) const;
  /// Keeps only these samples, in ascending order.
  void keep(std::span<const int64_t> samples);

 private:
  struct Part {
    std::string name;
    size_t first, end;  // samples before this part when it was added; samples up to its end
  };
  std::vector<Part> parts_;
  std::vector<uint32_t> kept_;  // numbers; empty: all, in order
};

struct LabelledSamples {
  LabelledSamples(const std::string& sample, const std::string& samples)
      : LabelledSamples(sample, samples, sample, samples) {}
  LabelledSamples(std::string sample, std::string samples, std::string column, std::string key)
      : one(std::move(sample)),
        many(std::move(samples)),
        csv_column(std::move(column)),
        json_key(std::move(key)) {}

  std::string one, many;             // noun for a sample: "volume", "volumes"
  std::string csv_column, json_key;  // the same in result files, where it never changes
  std::vector<int64_t> labels;       // −1: unknown
  std::vector<std::string> names;    // sample names: file, index within the split; empty: `numbered`
  NumberedNames numbered;
  std::vector<std::string> groups;  // samples of equal groups stay in one split; empty: each alone
  std::string group_column;         // that has the groups, for messages
  std::vector<std::string> classes;
  std::vector<int64_t> train, validation, test;  // samples of each split
  std::string split_rule, validation_rule;  // clauses about what made the splits, or the validation split
                                            // alone, with the options; "": the data have them
  std::string drawn;               // the note of splits that split_by_class has drawn; "": the data have them
  std::vector<uint64_t> contents;  // hash of each sample's content
  std::string source;
  std::string unlabelled;  // place of the first sample without a class, such as "x.csv:9"; "": no place
  std::vector<std::string> notes;  // messages; the first `warnings` of them are warnings
  size_t warnings = 0;

  /// Samples of a split ("train", "validation", "test", "all").
  std::vector<int64_t> split(const std::string& name) const;
  /// Number of `samples` with each label.
  std::vector<int64_t> class_counts(std::span<const int64_t> samples) const;
  /// "there are no validation volumes", with the reason, for a split without samples.
  std::string no_samples(std::string_view split) const;
  /// Adds a warning after those that are there.
  void warn(std::string text);
  std::string sample_name(int64_t sample) const;
  /// A sample's name for messages; a number is prefixed with the noun: "volume 3".
  std::string called(int64_t sample) const;
};

/// A batch of B samples; the set defines the layout of values and masks.
struct LabelledBatch {
  at::Tensor values;  // [B, …] float32, 0 where invalid
  at::Tensor valid;   // bool; undefined when the set has no masks
  at::Tensor labels;  // [B] int64
};

/// Name of a sample of an array such as "test_images", whose `part` is "test_": "test 3"; "3" without a part.
std::string array_sample_name(std::string_view part, int64_t sample);
/// Appends n labels, [n] or [n, 1] whole numbers from 0; a data error names the first invalid one. Messages
/// begin with `name`.
void append_labels(LabelledSamples& set, const io::Array& array, int64_t samples, const std::string& name);
/// Sets the class names, and makes labels their indices, once: `names`, else the existing ones, else the
/// training labels (the labels of all samples if none is training), at least two. Labels are indices of
/// `names` already, unless these are numbers and, `are_labels`, the labels of a training. A data error names
/// a label out of range.
void name_classes(LabelledSamples& set, const std::vector<std::string>& names, bool are_labels = false);

/// Appends a note that is a warning.
void add_warning(LabelledSamples& set, std::string text);
/// Pairs of texts that differ only in upper and lower case, in spaces, in the form of a number (1, 1.0) or in
/// their Unicode normalization.
std::vector<std::pair<std::string, std::string>> similar_texts(std::span<const std::string> texts);
/// How such a pair differs, for a sentence.
std::string similar_texts_differ_in(const std::string& first, const std::string& other);
/// Warns of such classes.
void warn_of_similar_classes(LabelledSamples& set);

/// A sentence about test samples whose content is that of training or validation samples, as in all sets with
/// `contents`; "": none.
template <class Set>
std::string copies_text(const Set& set, std::string_view many) {
  if (set.test == set.validation) return "";
  std::vector<uint64_t> known;
  for (const auto* list : {&set.train, &set.validation})
    for (const int64_t i : *list) known.push_back(set.contents[static_cast<size_t>(i)]);
  std::sort(known.begin(), known.end());
  const auto copies = std::ranges::count_if(set.test, [&](int64_t i) {
    return std::binary_search(known.begin(), known.end(), set.contents[static_cast<size_t>(i)]);
  });
  if (copies == 0) return "";
  return fmt::format(
      "{}: {} of the {} test {} {} identical to {} of the training or validation split, which makes its "
      "results too good",
      set.source, copies, set.test.size(), many, is_or_are(copies), many);
}

/// Sets `contents` by the hash of each sample, and warns of copies between the splits, but not between drawn
/// ones for a `trained` model, which uses other data without them.
void hash_contents(LabelledSamples& set, const std::function<uint64_t(size_t sample)>& hash,
                   bool trained = false);

/// Samples grouped by label, from −1 (index 0) to the last class, each group in the order of `samples`.
std::vector<std::vector<int64_t>> samples_by_class(const LabelledSamples& set,
                                                   std::span<const int64_t> samples);

// If the set has groups, the next functions split whole groups: each counts once, for the class of most of
// its samples.

/// Stratified split into training, validation and test by `ratios` (data.split_ratios, named in the config
/// error), in an order that depends only on the seed.
void split_by_class(LabelledSamples& set, const std::vector<double>& ratios, int64_t seed);
/// Moves a fraction of the training samples of each class to validation, in an order that depends only on
/// the seed.
void take_validation(LabelledSamples& set, double share, int64_t seed);
/// Redraws the validation split from the training and validation samples, with the same number of samples of
/// each class, in an order that depends only on the seed.
void deal_validation(LabelledSamples& set, int64_t seed);

/// Removes the samples for which `out` is true from the set; returns the previous indices of the others.
std::vector<int64_t> leave_out(LabelledSamples& set, const std::vector<bool>& out);
/// Removes the test samples from the set; returns the previous indices of the remaining samples.
std::vector<int64_t> leave_test_out(LabelledSamples& set);
/// The same, also from `samples`, which has one entry for each label.
void leave_test_out(LabelledSamples& set, std::vector<at::Tensor>& samples);

}  // namespace modewise::data
