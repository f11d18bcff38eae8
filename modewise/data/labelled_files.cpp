#include "modewise/data/labelled_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/file_matcher.h"
#include "modewise/data/label_cells.h"
#include "modewise/data/split_names.h"

namespace modewise::data {
namespace {

/// "train" for "train/a.png"; "" for "a.png".
std::string first_folder(const std::string& path) {
  const size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// Sets the splits of all rows, if their files are in folders of splits.
void split_by_folders(LabelledSamples& set, const FolderFiles& files, std::span<const size_t> taken,
                      std::span<LabelRow> rows) {
  std::set<std::string> folders;
  for (const size_t file : taken) folders.insert(first_folder(files.paths[file]));
  const bool all = std::ranges::all_of(
      folders, [](const std::string& folder) { return split_of_name(folder).has_value(); });
  if (!all || !name_splits(folders)) return;
  for (size_t i = 0; i < rows.size(); ++i) rows[i].split = first_folder(files.paths[taken[i]]);
  const std::string rule =
      fmt::format("the splits are the folders {}", listed_names(std::vector(folders.begin(), folders.end())));
  set.split_rule = rule;
  set.notes.push_back(fmt::format("{}: {}", files.root.string(), rule));
}

}  // namespace

FileLabels match_labels(LabelledSamples& set, const LabelTable& table, const FolderFiles& files,
                        const LabelTableConfig& config) {
  const std::string &csv = table.path, root = files.root.string();
  const FileMatcher matcher(files.paths, files.without_ending);
  FileLabels labels(files.paths.size());
  std::vector<std::string> no_file, no_row;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& name = table.files[row];
    std::vector<size_t> found = matcher.find(name);
    if (found.empty()) found = matcher.find(without_fraction(name, table.decimal));
    if (found.empty()) {
      no_file.push_back(name);
      continue;
    }
    require(found.size() == 1, ErrorKind::data,
            "{}: row {}: '{}' means {} files, such as {} and {}; name files by their path relative to {}",
            csv, row + 1, name, found.size(), files.paths[found[0]], files.paths[found[1 % found.size()]],
            root);
    require(!labels[found[0]], ErrorKind::data, "{}: duplicate file '{}': row {} means {} again", csv,
            files.without_ending(name), row + 1, files.paths[found[0]]);
    labels[found[0]] = table.rows[row];
  }
  set.notes.insert(set.notes.end(), table.notes.begin(), table.notes.end());
  if (config.takes_all_files()) {
    for (std::optional<LabelRow>& label : labels)
      if (!label) label.emplace();
    return labels;
  }
  for (size_t i = 0; i < labels.size(); ++i)
    if (!labels[i]) no_row.push_back(files.paths[i]);
  require(no_row.size() < labels.size(), ErrorKind::data, "{}: {} lists none of its files: {}; {}", root, csv,
          with_examples("file", "", files.paths), with_examples("row", "", no_file));
  const auto skip = [&](const char* noun, const std::string& rest, const std::vector<std::string>& names) {
    if (names.empty()) return;
    require(!config.strict, ErrorKind::data, "{} (data.strict)", with_examples(noun, rest, names));
    set.warn(with_examples(noun, rest + ", skipped", names));
  };
  skip("row", fmt::format(" of {} without a file in {}", csv, root), no_file);
  skip("file", fmt::format(" of {} without a row in {}", root, csv), no_row);
  return labels;
}

std::vector<std::string> class_names(const FileLabels& labels, const std::vector<std::string>& classes,
                                     const std::string& source, const LabelTableConfig& config) {
  std::set<std::string> found;
  for (const std::optional<LabelRow>& label : labels)
    if (label && !label->label.empty()) found.insert(label->label);
  if (!classes.empty()) {
    const NameIndex known(classes);
    for (const std::string& label : found)
      require(known.contains(label) || !config.labelled, ErrorKind::data,
              "{}: class '{}' is not among data.classes", source, label);
    return classes;
  }
  std::vector<std::string> names(found.begin(), found.end());
  const auto number = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
  const bool numbers = std::all_of(names.begin(), names.end(), [](const std::string& text) {
    char* end = nullptr;
    std::strtod(text.c_str(), &end);
    return end != text.c_str() && *end == '\0';
  });
  if (numbers)
    std::stable_sort(names.begin(), names.end(),
                     [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
  return names;
}

std::vector<size_t> take_files(LabelledSamples& set, const FolderFiles& files, FileLabels labels,
                               const LabelTable& table, const std::vector<double>& split_ratios,
                               int64_t split_seed) {
  const NameIndex classes(set.classes);
  std::vector<size_t> taken;
  std::vector<LabelRow> rows;
  for (size_t i = 0; i < files.paths.size(); ++i) {
    if (!labels.empty() && !labels[i]) continue;
    taken.push_back(i);
    set.names.push_back(files.paths[i]);
    const auto label = labels.empty() ? std::nullopt : classes.find(labels[i]->label);
    set.labels.push_back(label ? static_cast<int64_t>(*label) : -1);
    if (!labels.empty()) rows.push_back(std::move(*labels[i]));
  }
  if (!table.path.empty() && table.split_column.empty()) split_by_folders(set, files, taken, rows);
  if (!take_rows(set, table, rows) && !rows.empty()) split_by_class(set, split_ratios, split_seed);
  return taken;
}

std::vector<std::string> short_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(path.substr(path.rfind('/') + 1));
  const bool unique = std::set(names.begin(), names.end()).size() == names.size();
  return unique ? names : paths;
}

}  // namespace modewise::data
