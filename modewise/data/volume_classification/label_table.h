#pragma once
// Tables of labels: a class for each file or volume, perhaps its split and its group, such as a patient.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/volume_classification/volumes.h"

namespace modewise::data {

struct LabelRow {
  std::string label, split, group;
};

struct LabelTable {
  std::string path;
  std::vector<std::string> columns;  // all names
  std::vector<std::string> files;    // as written; empty: without a column of files
  std::vector<LabelRow> rows;
  std::string label_column, split_column, group_column;  // the last two may be "": none
  char decimal = '.';
};

/// Reads a table of files and their classes. Data errors for rows without a file or a class, and for files
/// that occur twice.
LabelTable read_file_labels(const std::string& path, const VolumeConfig& config);
/// Reads a table with a row for each volume, in order. Without a column of a usual name the last one has the
/// labels.
LabelTable read_row_labels(const std::string& path, const VolumeConfig& config);

/// Puts the samples into the splits of their rows and sets their groups. Whether the rows have splits.
bool take_rows(VolumeSet& set, const LabelTable& table, std::span<const LabelRow> rows);
/// Puts a sample into the split of this name, such as "training"; false: not a split.
bool put_into_split(VolumeSet& set, const std::string& split, int64_t sample);

/// "folder/scan" for "folder/scan.nii.gz".
std::string without_nifti_ending(const std::string& path);

}  // namespace modewise::data
