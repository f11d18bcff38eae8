#pragma once
// Where labelled series come from; load_collection() chooses.

#include "modewise/data/series_classification/series_collection.h"
#include "modewise/io/tables/labelled_series_file.h"

namespace modewise::data {

/// Cases as a file has them: classes of its own, NaN where a value is missing.
struct RawSamples {
  std::vector<at::Tensor> samples;  // [V, T_i] float32
  std::vector<int64_t> labels;    // into classes; −1 without
  std::vector<std::string> classes;
  int64_t variables = 0, missing = 0;
  std::string name, source;
  std::vector<std::string> notes;
};

/// Those of a .ts or .arff file.
RawSamples samples_of(const io::LabelledSeriesFile& file, const std::string& path);
/// A table of cases of one variable, a row each: of a .txt plain numbers, the class first; of other files
/// CSV, where without a header the class comes first, and with one the column named label, class, target or y
/// holds it (without such a column the cases have none). Missing cells that end a row end its series (the UCR
/// archive). Data errors with file and case.
RawSamples read_sample_table(const std::string& path);
/// What the file's name says it is: .ts, .arff, or a table.
RawSamples read_samples(const std::string& path);
/// Fills gaps along a straight line between the values around them, ends with the value next to them; a
/// variable without any value stays NaN.
void fill_gaps(at::Tensor& series);

/// The training (`test` false) or test cases of the simulation.
RawSamples simulate_motifs(const MotifsConfig& config, uint64_t seed, bool test);

}  // namespace modewise::data
