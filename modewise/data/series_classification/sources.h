#pragma once
// Readers of load_collection().

#include "modewise/data/series_classification/series_collection.h"
#include "modewise/io/tables/series_file.h"

namespace modewise::data {

/// Samples of a file, with its own classes; NaN: missing.
struct RawSamples {
  SeriesSamples samples;        // [V, T_i] float32
  std::vector<int32_t> labels;  // indices of `classes`; −1: unknown
  std::vector<std::string> classes;
  std::string unlabelled;          // place of the first sample without a class in a file that has classes
  std::vector<std::string> index;  // columns left out as the index of a table
  std::vector<std::string> names;  // cells of the first of them that has a name; empty: none, or cells miss
  TableForm form;
  int64_t variables = 0, missing = 0;
  std::string name, source;
  std::vector<std::string> notes, warnings;
};

/// The samples of a .ts or .arff file. Steps with names (ARFF) are put into the order of `like`.
RawSamples samples_of(io::SeriesFile file, const std::string& path, const TableForm& like = {});
/// The place among `names` of each step of the training table `like`; empty: the steps have the same order,
/// or one of the tables has no names, so that they are matched by position. A data error names missing and
/// unknown steps.
std::vector<size_t> order_of_steps(const std::vector<std::string>& names, const TableForm& like,
                                   const std::string& path);
inline constexpr const char* kMatchedByName =
    ": the columns are in another order than in the training table, and are matched by name";
/// Whether names of steps only count them, from 0 or 1.
bool only_count(const std::vector<std::string>& names);
/// Reads a table of univariate samples, one per row: .txt has plain numbers, the class first; other files are
/// CSV, with the class first, or with a header in the column label, class, target or y (without such a column
/// there are no classes). Index columns are left out with a warning (columns.index). Missing cells at the end
/// of a row end its series (the UCR archive). `training`: the columns that the config names must exist, and
/// an index is also found by its values, not only by its name. `like`: the training table, whose names of
/// columns give the order of the steps, and whose decimal mark counts where the numbers leave it open. Data
/// errors with file and sample, for columns that may be an index or values, and for numbers whose marks can
/// be read in two ways.
RawSamples read_sample_table(const std::string& path, const SampleColumns& columns = {}, bool training = true,
                             const TableForm& like = {});
/// Reads a .ts, .arff or table file, by its extension.
RawSamples read_samples(const std::string& path, const SampleColumns& columns = {}, bool training = true,
                        const TableForm& like = {});
/// Fills gaps of [V, T] values by linear interpolation, ends with the nearest value; a variable without
/// values stays NaN.
void fill_gaps(std::span<float> values, int64_t variables);

/// Training (`test` false) or test samples of the simulation.
RawSamples simulate_motifs(const MotifsConfig& config, uint64_t seed, bool test);

}  // namespace modewise::data
