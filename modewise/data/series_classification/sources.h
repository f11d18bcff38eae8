#pragma once
// Readers of load_collection().

#include "modewise/data/series_classification/series_collection.h"
#include "modewise/io/tables/series_file.h"

namespace modewise::data {

/// Samples of a file, with its own classes; NaN: missing.
struct RawSamples {
  std::vector<at::Tensor> samples;  // [V, T_i] float32
  std::vector<int64_t> labels;      // indices of `classes`; −1: none
  std::vector<std::string> classes;
  int64_t variables = 0, missing = 0;
  std::string name, source;
  std::vector<std::string> notes;
};

/// The samples of a .ts or .arff file.
RawSamples samples_of(const io::SeriesFile& file, const std::string& path);
/// Reads a table of univariate samples, one per row: .txt has plain numbers, the class first; other files are
/// CSV, with the class first, or with a header in the column label, class, target or y (without such a column
/// there are no classes). Missing cells at the end of a row end its series (the UCR archive). Data errors
/// with file and sample.
RawSamples read_sample_table(const std::string& path);
/// Reads a .ts, .arff or table file, by its extension.
RawSamples read_samples(const std::string& path);
/// Fills gaps by linear interpolation, ends with the nearest value; a variable without values stays NaN.
void fill_gaps(at::Tensor& series);

/// Training (`test` false) or test samples of the simulation.
RawSamples simulate_motifs(const MotifsConfig& config, uint64_t seed, bool test);

}  // namespace modewise::data
