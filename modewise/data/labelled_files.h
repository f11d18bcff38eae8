#pragma once
// Files of a folder with their classes, as tables of labels or names of folders give them.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "modewise/data/label_table.h"

namespace modewise::data {

/// Files below a folder, by their paths relative to it, with /.
struct FolderFiles {
  std::filesystem::path root;
  std::vector<std::string> paths;
  WithoutEnding without_ending;
};

/// The label of each file; nothing: the file is left out.
using FileLabels = std::vector<std::optional<LabelRow>>;

/// Labels of the files by the table, whose notes the set gets; warns of rows without a file and files without
/// a row. Without config.takes_all_files() all files have one, perhaps without a class.
FileLabels match_labels(LabelledSamples& set, const LabelTable& table, const FolderFiles& files,
                        const LabelTableConfig& config);

/// Names of the classes of `labels`, sorted as numbers, else as text, or `classes`; a data error, which
/// begins with `source`, names another one that config.labelled does not allow.
std::vector<std::string> class_names(const FileLabels& labels, const std::vector<std::string>& classes,
                                     const std::string& source, const LabelTableConfig& config);

/// Makes the files with labels the samples of `set`, which has the classes: names, labels, groups, and the
/// splits of `table` (its path may be "": none), or of folders of splits, or by class. Returns the indices of
/// these files. Empty `labels`: all files, without a class and split.
std::vector<size_t> take_files(LabelledSamples& set, const FolderFiles& files, FileLabels labels,
                               const LabelTable& table, const std::vector<double>& split_ratios,
                               int64_t split_seed);

/// The file names of paths, or the paths if file names are not unique.
std::vector<std::string> short_names(const std::vector<std::string>& paths);

}  // namespace modewise::data
