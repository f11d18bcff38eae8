#pragma once
// Config of a table of labels beside a folder of files.

#include <string>

#include "modewise/core/fields.h"

namespace modewise::data {

struct LabelTableConfig {
  std::string labels;  // the table; "": labels.csv of the folder, if it has one; none: no table
  std::string file_column, label_column, split_column;  // "": detected by name
  std::string group_column;  // groups that stay in one split; "": detected by name; none: no groups
  bool strict = false;       // refuses rows without a file and files without a row
  bool labelled = true;      // no field: classes other than a run's are errors, not unknown
  bool other_data = false;   // no field: data of another place than a run's; columns are detected if missing

  /// Adds all fields except `labels`, which the task adds with its own help.
  void fields(Fields& f);

  /// Path of the table of `folder`; "": none.
  std::string table_of(const std::string& folder) const;
  /// Config error for the name of a column, where `path` has no table.
  void refuse_columns(const std::string& path) const;
  /// For other data than a run's, which have a table of their own or none.
  void use_other_data();
  /// Whether files without a row are samples, too: to be predicted.
  bool takes_all_files() const { return other_data && !labelled; }
};

}  // namespace modewise::data
