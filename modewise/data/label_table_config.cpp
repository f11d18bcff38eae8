#include "modewise/data/label_table_config.h"

#include <filesystem>
#include <utility>

#include "modewise/core/error.h"

namespace modewise::data {

void LabelTableConfig::fields(Fields& f) {
  f.add("file_column", file_column, "file column of the table of labels; empty: detected");
  f.add("label_column", label_column, "label column of the table; empty: detected");
  f.add("split_column", split_column,
        "split column of the table (train, validation or test); empty: detected");
  f.add("group_column", group_column,
        "column of the table whose groups, such as patients, stay in one split; empty: detected (patient, "
        "subject, group, lesion); none: not used");
  f.add("strict", strict,
        "refuse a table with rows without a file, and files without a row; otherwise skipped");
}

std::string LabelTableConfig::table_of(const std::string& folder) const {
  if (labels == "none") return "";
  const std::string usual = (std::filesystem::path(folder) / "labels.csv").string();
  return !labels.empty() ? labels : std::filesystem::exists(usual) ? usual : "";
}

void LabelTableConfig::refuse_columns(const std::string& path) const {
  for (const auto& [option, column] :
       {std::pair("file_column", &file_column), std::pair("label_column", &label_column),
        std::pair("split_column", &split_column), std::pair("group_column", &group_column)})
    require(column->empty() || *column == "none", ErrorKind::config,
            "data.{} = {}: {} has no table of labels (CSV), which would have such a column", option, *column,
            path);
}

void LabelTableConfig::use_other_data() {
  labels.clear();
  other_data = true;
}

}  // namespace modewise::data
