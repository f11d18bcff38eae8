#include "modewise/data/label_table.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/file_matcher.h"
#include "modewise/data/label_cells.h"
#include "modewise/data/split_names.h"
#include "modewise/io/ascii.h"
#include "modewise/io/number_text.h"
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
  LabelColumns(const std::string& path, const LabelTableConfig& config) : path_(path), config_(config) {
    io::CsvOptions options;
    options.plain_numbers = true;
    options.is_text = [](std::string_view) { return true; };
    table = io::read_csv(path, options);
    for (const io::CsvColumn& column : table.columns) names.push_back(column.name);
    files = find(config.file_column,
                 {"file", "filename", "file_name", "path", "file_path", "filepath", "image", "image_path",
                  "name", "id", "image_id", "image_name", "image_file", "id_code"});
    labels = find(config.label_column, {"label", "class", "target", "diagnosis", "dx"});
    split = find(config.split_column, {"split", "set", "subset"});
    if (config.group_column == "none") return;
    group = find(config.group_column, {"patient", "patient_id", "patientid", "subject", "subject_id", "group",
                                       "group_id", "lesion", "lesion_id"});
    if (config.group_column.empty() && (group == files || group == labels)) group = nullptr;
  }

  io::CsvTable table;
  std::vector<std::string> names;
  const io::CsvColumn *files = nullptr, *labels = nullptr, *split = nullptr,
                      *group = nullptr;  // null: none

  /// All but the files and classes; without splits and groups, if these do not apply to all files.
  LabelTable rows() const {
    LabelTable out{path_, names, {}, {}, "", "", "", table.decimal};
    const bool has_splits = !config_.takes_all_files();
    if (has_splits && split != nullptr) out.split_column = split->name;
    if (has_splits && group != nullptr) out.group_column = group->name;
    const auto text = [](const io::CsvColumn* column, size_t row) {
      return std::string(column == nullptr ? "" : cell_text(column->texts[row]));
    };
    out.rows.resize(static_cast<size_t>(table.rows));
    for (size_t row = 0; has_splits && row < out.rows.size(); ++row)
      out.rows[row] = {"", text(split, row), without_fraction(text(group, row), table.decimal)};
    return out;
  }

  /// Sets the classes by the column of labels, which must not be null.
  void add_classes(LabelTable& out) const {
    out.label_column = labels->name;
    const ClassNames classes(labels->texts, table.decimal);
    for (size_t row = 0; row < out.rows.size(); ++row) out.rows[row].label = classes.of(labels->texts[row]);
  }

  /// Sets the classes by columns of 0 and 1, which must be all that are not used otherwise; false: they are
  /// not.
  bool add_one_hot_classes(LabelTable& out) const {
    std::vector<const io::CsvColumn*> columns;
    for (const io::CsvColumn& column : table.columns)
      if (&column != files && &column != split && &column != group) columns.push_back(&column);
    if (!config_.label_column.empty() || columns.size() < 2) return false;
    std::vector<std::string> classes;
    std::vector<std::vector<std::string>> found(out.rows.size());
    for (const io::CsvColumn* column : columns) {
      classes.push_back(column->name);
      for (size_t row = 0; row < found.size(); ++row) {
        double value = 0;
        if (!io::parse_number(cell_text(column->texts[row]), table.decimal, value) ||
            (value != 0 && value != 1))
          return false;
        if (value == 1) found[row].push_back(column->name);
      }
    }
    for (size_t row = 0; row < found.size(); ++row) {
      require(found[row].size() == 1, ErrorKind::data,
              "{}: row {} has a 1 in {} of the columns of 0 and 1{}, expected one; several classes for one "
              "file are not supported",
              path_, row + 1, found[row].size(),
              found[row].empty() ? "" : fmt::format(" ({})", listed_names(found[row])));
      out.rows[row].label = found[row].front();
    }
    out.notes.push_back(
        fmt::format("{}: the classes are the columns of 0 and 1: {}", path_, listed_names(classes)));
    return true;
  }

 private:
  /// The column `asked`, else the first of `usual`; null: none.
  const io::CsvColumn* find(const std::string& asked, std::initializer_list<const char*> usual) const {
    if (!asked.empty()) {
      const io::CsvColumn* column = table.find(asked);
      require(column != nullptr || config_.other_data, ErrorKind::data,
              "{}: there is no column '{}'{}; the columns are: {}", path_, asked,
              nearest_name_hint(asked, names), listed_names(names));
      if (column != nullptr) return column;
    }
    for (const char* name : usual)
      for (const io::CsvColumn& column : table.columns)
        if (plain_name(column.name) == name) return &column;
    return nullptr;
  }

  const std::string& path_;
  const LabelTableConfig& config_;
};

/// Says which columns have the files and the classes, if they were detected by other names than these.
void note_columns(LabelTable& out, const LabelColumns& columns, const LabelTableConfig& config) {
  const bool plain_file = !config.file_column.empty() || plain_name(columns.files->name) == "file",
             plain_label = !config.label_column.empty() || columns.labels == nullptr ||
                           plain_name(columns.labels->name) == "label";
  if (!plain_file)
    out.notes.push_back(fmt::format("{}: the files are those of column '{}' (data.file_column)", out.path,
                                    columns.files->name));
  if (!plain_label)
    out.notes.push_back(fmt::format("{}: the labels are those of column '{}' (data.label_column)", out.path,
                                    columns.labels->name));
}

/// Warns of groups in several splits of the table, which then are not kept together.
void check_groups(LabelledSamples& set) {
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
      "group", fmt::format(" of the column '{}' with {} in more than one split", set.group_column, set.many),
      several));
}

/// Says by which column the samples are grouped, and how many have no group.
void note_groups(LabelledSamples& set, const std::string& path) {
  const auto without = std::count(set.groups.begin(), set.groups.end(), "");
  if (without > 0)
    set.warn(fmt::format("{}: {} without a '{}' (data.group_column): each is a group of its own", path,
                         counted(without, set.one), set.group_column));
  const std::set<std::string> different(set.groups.begin(), set.groups.end());
  if (const auto similar = similar_texts(std::vector(different.begin(), different.end())); !similar.empty())
    set.warn(fmt::format("{}: the groups '{}' and '{}' of the column '{}' differ only in {}; {}", path,
                         similar[0].first, similar[0].second, set.group_column,
                         similar_texts_differ_in(similar[0].first, similar[0].second),
                         counted(similar.size(), "such pair")));
  set.notes.push_back(fmt::format("{}: {} of equal '{}' stay in one split (data.group_column)", path,
                                  set.many, set.group_column));
}

/// Puts a sample into the split of this name, such as "training"; false: not a split.
bool put_into_split(LabelledSamples& set, const std::string& split, int64_t sample) {
  const std::optional<size_t> place = split_of_name(split);
  if (place) std::array{&set.train, &set.validation, &set.test}[*place]->push_back(sample);
  return place.has_value();
}

}  // namespace

LabelTable read_file_labels(const std::string& path, const LabelTableConfig& config,
                            WithoutEnding without_ending) {
  require(std::filesystem::exists(path), ErrorKind::no_input, "there is no file {} with the labels", path);
  const LabelColumns columns(path, config);
  LabelTable out = columns.rows();
  const bool known_classes = columns.labels != nullptr;
  if (known_classes) columns.add_classes(out);
  require(
      columns.files != nullptr && (known_classes || columns.add_one_hot_classes(out)), ErrorKind::data,
      "{}: expected a column of files (file) and one of classes (label), or of 0 and 1 for each class; "
      "data.file_column and data.label_column select others, data.labels = none leaves the table out; the "
      "columns are: {}",
      path, listed_names(columns.names));
  note_columns(out, columns, config);
  std::set<std::string> known;
  for (size_t row = 0; row < out.rows.size(); ++row) {
    const std::string& name = out.files.emplace_back(cell_text(columns.files->texts[row]));
    require(!name.empty(), ErrorKind::data, "{}: row {} has no file", path, row + 1);
    require(!out.rows[row].label.empty() || config.takes_all_files(), ErrorKind::data,
            "{}: row {} has no class", path, row + 1);
    require(known.insert(without_ending(name)).second, ErrorKind::data, "{}: duplicate file '{}'", path,
            without_ending(name));
  }
  return out;
}

LabelTable read_row_labels(const std::string& path, const LabelTableConfig& config) {
  LabelColumns columns(path, config);
  if (columns.labels == nullptr) columns.labels = &columns.table.columns.back();
  LabelTable out = columns.rows();
  columns.add_classes(out);
  return out;
}

bool take_rows(LabelledSamples& set, const LabelTable& table, std::span<const LabelRow> rows) {
  const auto with_split =
      std::count_if(rows.begin(), rows.end(), [](const LabelRow& row) { return !row.split.empty(); });
  require(with_split == 0 || with_split == std::ssize(rows), ErrorKind::data,
          "{}: some rows have a split and others do not", table.path);
  set.group_column = table.group_column;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!table.group_column.empty()) set.groups.push_back(rows[i].group);
    require(with_split == 0 || put_into_split(set, rows[i].split, static_cast<int64_t>(i)), ErrorKind::data,
            "{}: '{}' is not train, validation or test; without the column the {} are split by class",
            table.path, rows[i].split, set.many);
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
