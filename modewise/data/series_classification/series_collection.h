#pragma once
// Labelled series: N cases of V variables, equally long or not, split into training, validation and test.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/labelled_samples.h"
#include "modewise/data/series_classification/config.h"

namespace modewise::data {

/// (x − mean) / deviation of each variable; empty: nothing.
struct VariableScale {
  std::vector<double> mean, stddev;  // [V]; a deviation of 0 counts as 1
};

struct SeriesCollection : LabelledSamples {
  SeriesCollection() : LabelledSamples("sample", "samples", "case", "cases") {}

  std::vector<at::Tensor> samples;  // each [V, T_i] float32, scaled, gaps filled
  int64_t variables = 0;
  int64_t length = 0;   // T: what shorter cases are padded to
  VariableScale scale;  // fitted to the training cases
  std::string name;

  int64_t count() const { return static_cast<int64_t>(samples.size()); }
  /// Whether batches come with masks.
  bool padded() const;
};

/// Reads what `config` names. Data errors: a test case whose class no training case has, files that differ in
/// dimensions or in having classes, a case longer than config.length. Without `with_test` the test file is
/// not read (it need not be there) and the set has no test cases, nor where they are cut from a file of all
/// cases; protocol paper reads all cases to split them anew, and tslib, whose validation cases are the test
/// cases, is a config error.
SeriesCollection load_collection(const CollectionConfig& config, bool with_test = true);

/// What a trained model asks of other cases.
struct TrainedSeries {
  std::vector<std::string> classes;
  int64_t variables = 0, length = 0;
  bool padded = false;
  VariableScale scale;
};
/// One file for a trained model, all of whose cases are test cases; data errors name what does not fit.
SeriesCollection load_samples(const std::string& file, const std::string& normalize,
                              const TrainedSeries& trained);

/// Values [B, V, T] and masks [B, T], zeros behind the cases' ends.
LabelledBatch gather_samples(const SeriesCollection& collection, std::span<const int64_t> samples,
                             int64_t length, bool padded);

/// Varies the cases of batch `number` in place; equal (seed, number) vary alike.
void augment(LabelledBatch& batch, const SeriesAugmentConfig& config, uint64_t seed, uint64_t number);

/// Hash of cases, labels and splits.
std::string hash_of(const SeriesCollection& collection);

}  // namespace modewise::data
