#pragma once
// Tables of labels: a class for each file or sample, perhaps its split and its group, such as a patient.

#include <span>
#include <string>
#include <vector>

#include "modewise/data/label_table_config.h"
#include "modewise/data/labelled_samples.h"

namespace modewise::data {

struct LabelRow {
  std::string label, split, group;
};

struct LabelTable {
  std::string path;
  std::vector<std::string> columns;  // all names
  std::vector<std::string> files;    // as written; empty: without a column of files
  std::vector<LabelRow> rows;
  std::string label_column, split_column, group_column;  // "": none
  char decimal = '.';
  std::vector<std::string> notes = {};  // which columns were chosen, where that is not plain
};

/// Removes the extension of a file name that labels may leave out.
using WithoutEnding = std::string (*)(const std::string& path);

/// Reads a table of files and their classes: in one column, or in a column of 0 and 1 for each class. Data
/// errors for rows without a file or a class, and for files that occur twice.
LabelTable read_file_labels(const std::string& path, const LabelTableConfig& config,
                            WithoutEnding without_ending);
/// Reads a table with a row for each sample, in order. Without a column of a usual name the last one has the
/// labels.
LabelTable read_row_labels(const std::string& path, const LabelTableConfig& config);

/// Puts the samples into the splits of their rows and sets their groups. Whether the rows have splits.
bool take_rows(LabelledSamples& set, const LabelTable& table, std::span<const LabelRow> rows);

}  // namespace modewise::data
