#pragma once
// Series classification data: N samples of V variables, of equal or different lengths, with splits.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/labelled_samples.h"
#include "modewise/data/series_classification/config.h"
#include "modewise/data/series_classification/series_samples.h"

namespace modewise::data {

/// (x − mean) / std of each variable; empty: identity.
struct VariableScale {
  std::vector<double> mean, stddev;  // [V]; a std of 0 counts as 1
};

/// How the training table reads, for test tables and new ones.
struct TableForm {
  std::vector<std::string> columns;  // names of the steps; empty: none, or they only count
  std::string decimal;               // the decimal mark that its numbers prove; "": none
  int64_t steps = 0;                 // of every sample; 0: not known, or they differ
};

struct SeriesCollection : LabelledSamples {
  SeriesCollection() : LabelledSamples("sample", "samples", "case", "cases") {}

  SeriesSamples samples;  // each [V, T_i] float32, scaled, gaps filled
  int64_t variables = 0;
  int64_t length = 0;   // T: length after padding
  VariableScale scale;  // fitted to the training samples
  std::string name;
  std::vector<std::string> index;  // columns of the training table that are left out as its index
  TableForm form;

  int64_t count() const { return static_cast<int64_t>(samples.size()); }
  /// Whether batches have padding masks.
  bool padded() const;
};

/// Loads the samples of `config`. Data errors: a test class without training samples, files that differ in
/// dimensions or in having classes, samples without a class, a sample longer than config.length. Without
/// `with_test` the set has no test samples and the test file is not read (it need not exist). Protocol paper
/// still reads all samples to split them; tslib, whose validation samples are the test samples, is then a
/// config error. With `trained` the tables are read like those of a trained model.
SeriesCollection load_collection(const CollectionConfig& config, bool with_test = true,
                                 const TableForm& trained = {});

/// Requirements of a trained model for new samples.
struct TrainedSeries {
  std::vector<std::string> classes;
  int64_t variables = 0, length = 0;
  bool padded = false;
  VariableScale scale;
  TableForm form = {};
};
/// Loads a file for a trained model, all samples as test samples; data errors name what does not fit. Without
/// `labelled` a class that the model does not know is as none.
SeriesCollection load_samples(const std::string& file, const std::string& normalize,
                              const TrainedSeries& trained, const SampleColumns& columns = {},
                              bool labelled = true);
/// Splits such samples as load_collection splits a file of all samples, if they then have the hash `trained`,
/// with or without test samples.
void split_if_own(SeriesCollection& set, const CollectionConfig& config, const std::string& trained,
                  bool with_test);

/// Batch of values [B, V, T], zero-padded, with padding masks [B, T].
LabelledBatch gather_samples(const SeriesCollection& collection, std::span<const int64_t> samples,
                             int64_t length, bool padded);

/// Augments the samples of batch `number` in place, reproducible for equal (seed, number).
void augment(LabelledBatch& batch, const SeriesAugmentConfig& config, uint64_t seed, uint64_t number);

/// Hash of samples, labels and splits.
std::string hash_of(const SeriesCollection& collection);

}  // namespace modewise::data
