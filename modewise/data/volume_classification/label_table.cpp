#include "modewise/data/volume_classification/label_table.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/file_matcher.h"
#include "modewise/data/label_cells.h"
#include "modewise/data/split_names.h"
#include "modewise/io/ascii.h"
#include "modewise/io/tables/csv.h"

namespace modewise::data {
namespace {

/// A column name in lower case, with _ for spaces and hyphens.
std::string plain_name(std::string name) {
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : io::to_lower(c);
  return name;
}

/// The columns of a table, all of them texts.
class LabelColumns {
 public:
  LabelColumns(const std::string& path, const VolumeConfig& config) : path_(path) {
    io::CsvOptions options;
    options.plain_numbers = true;
    options.is_text = [](std::string_view) { return true; };
    table = io::read_csv(path, options);
    for (const io::CsvColumn& column : table.columns) names.push_back(column.name);
    files = find(config.file_column, {"file", "filename", "file_name", "path", "file_path", "filepath",
                                      "image", "image_path", "name", "id", "image_id"});
    labels = find(config.label_column, {"label", "class", "target", "diagnosis"});
    split = find(config.split_column, {"split", "set", "subset"});
    if (config.group_column == "none") return;
    group = find(config.group_column,
                 {"patient", "patient_id", "patientid", "subject", "subject_id", "group", "group_id"});
    if (config.group_column.empty() && (group == files || group == labels)) group = nullptr;
  }

  io::CsvTable table;
  std::vector<std::string> names;
  const io::CsvColumn *files = nullptr, *labels = nullptr, *split = nullptr,
                      *group = nullptr;  // null: none

  /// All but the files. `labels` must not be null.
  LabelTable rows() const {
    LabelTable out{path_, names, {}, {}, labels->name, "", "", table.decimal};
    if (split != nullptr) out.split_column = split->name;
    if (group != nullptr) out.group_column = group->name;
    const ClassNames classes(labels->texts, table.decimal);
    const auto text = [](const io::CsvColumn* column, size_t row) {
      return std::string(column == nullptr ? "" : cell_text(column->texts[row]));
    };
    for (size_t row = 0; row < static_cast<size_t>(table.rows); ++row)
      out.rows.push_back({classes.of(labels->texts[row]), text(split, row),
                          without_fraction(text(group, row), table.decimal)});
    return out;
  }

 private:
  /// The column `asked`, else the first of `usual`; null: none.
  const io::CsvColumn* find(const std::string& asked, std::initializer_list<const char*> usual) const {
    if (!asked.empty()) {
      const io::CsvColumn* column = table.find(asked);
      require(column != nullptr, ErrorKind::data, "{}: there is no column '{}'{}; the columns are: {}", path_,
              asked, nearest_name_hint(asked, names), listed_names(names));
      return column;
    }
    for (const char* name : usual)
      for (const io::CsvColumn& column : table.columns)
        if (plain_name(column.name) == name) return &column;
    return nullptr;
  }

  const std::string& path_;
};

/// Warns of groups in several splits of the table, which then are not kept together.
void check_groups(VolumeSet& set) {
  std::map<std::string, std::set<char>> splits;
  for (const auto& [list, split] :
       {std::pair(&set.train, 'r'), std::pair(&set.validation, 'v'), std::pair(&set.test, 't')})
    for (const int64_t i : *list)
      if (const std::string& group = set.groups[static_cast<size_t>(i)]; !group.empty())
        splits[group].insert(split);
  std::vector<std::string> several;
  for (const auto& [group, found] : splits)
    if (found.size() > 1) several.push_back(group);
  if (several.empty()) return;
  set.groups.clear();
  set.warn(with_examples(
      "group", fmt::format(" of the column '{}' with volumes in more than one split", set.group_column),
      several));
}

/// Says by which column the volumes are grouped, and how many have no group.
void note_groups(VolumeSet& set, const std::string& path) {
  const auto without = std::count(set.groups.begin(), set.groups.end(), "");
  if (without > 0)
    set.warn(fmt::format("{}: {} without a '{}' (data.group_column): each is a group of its own", path,
                         counted(without, "volume"), set.group_column));
  const std::set<std::string> different(set.groups.begin(), set.groups.end());
  if (const auto similar = similar_texts(std::vector(different.begin(), different.end())); !similar.empty())
    set.warn(fmt::format("{}: the groups '{}' and '{}' of the column '{}' differ only in {}; {}", path,
                         similar[0].first, similar[0].second, set.group_column,
                         similar_texts_differ_in(similar[0].first, similar[0].second),
                         counted(similar.size(), "such pair")));
  set.notes.push_back(
      fmt::format("{}: volumes of equal '{}' stay in one split (data.group_column)", path, set.group_column));
}

}  // namespace

std::string without_nifti_ending(const std::string& path) {
  return path.substr(0, path.size() - ending_of(path, {".nii.gz", ".nii", ".gz"}).size());
}

LabelTable read_file_labels(const std::string& path, const VolumeConfig& config) {
  const LabelColumns columns(path, config);
  require(columns.files != nullptr && columns.labels != nullptr, ErrorKind::data,
          "{}: expected a column of files (file) and one of classes (label); data.file_column and "
          "data.label_column select others; the columns are: {}",
          path, listed_names(columns.names));
  LabelTable out = columns.rows();
  std::set<std::string> known;
  for (size_t row = 0; row < out.rows.size(); ++row) {
    const std::string& name = out.files.emplace_back(cell_text(columns.files->texts[row]));
    require(!name.empty() && !out.rows[row].label.empty(), ErrorKind::data, "{}: row {} has no {}", path,
            row + 1, name.empty() ? "file" : "class");
    require(known.insert(without_nifti_ending(name)).second, ErrorKind::data, "{}: duplicate file '{}'", path,
            without_nifti_ending(name));
  }
  return out;
}

LabelTable read_row_labels(const std::string& path, const VolumeConfig& config) {
  LabelColumns columns(path, config);
  if (columns.labels == nullptr) columns.labels = &columns.table.columns.back();
  return columns.rows();
}

bool put_into_split(VolumeSet& set, const std::string& split, int64_t sample) {
  const std::optional<size_t> place = split_of_name(split);
  if (place) std::array{&set.train, &set.validation, &set.test}[*place]->push_back(sample);
  return place.has_value();
}

bool take_rows(VolumeSet& set, const LabelTable& table, std::span<const LabelRow> rows) {
  const auto with_split =
      std::count_if(rows.begin(), rows.end(), [](const LabelRow& row) { return !row.split.empty(); });
  require(with_split == 0 || with_split == std::ssize(rows), ErrorKind::data,
          "{}: some rows have a split and others do not", table.path);
  set.group_column = table.group_column;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!table.group_column.empty()) set.groups.push_back(rows[i].group);
    require(with_split == 0 || put_into_split(set, rows[i].split, static_cast<int64_t>(i)), ErrorKind::data,
            "{}: '{}' is not train, validation or test; without the column the volumes are split by class",
            table.path, rows[i].split);
  }
  if (with_split == 0) {
    if (!set.groups.empty()) note_groups(set, table.path);
    return false;
  }
  if (!table.split_column.empty())
    set.split_rule = fmt::format("the column '{}' of {} has the splits (data.split_column)",
                                 table.split_column, table.path);
  if (!set.groups.empty()) check_groups(set);
  return true;
}

}  // namespace modewise::data
