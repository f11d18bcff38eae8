// Image folders: one folder of PNG and JPEG files per class, or files with a table of their classes.

#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/folder.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/broken_files.h"
#include "modewise/data/file_matcher.h"
#include "modewise/data/image_classification/sources.h"
#include "modewise/data/labelled_files.h"
#include "modewise/data/split_names.h"

namespace modewise::data {
namespace {

using ImagePath = std::filesystem::path;

struct ClassFolder {
  std::string name;
  std::vector<ImagePath> files;
};

/// Entries of a folder in byte order, without system files.
std::vector<std::string> names_within(const ImagePath& folder) {
  std::vector<std::string> names;
  for (const ImagePath& entry : data_entries(folder))
    names.push_back(require_utf8(entry).filename().string());
  return names;
}

/// Files that are not images, reported in one warning.
struct LeftOut {
  int64_t count = 0;
  std::string first;

  void add(const ImagePath& path) {
    if (count++ == 0) first = path.string();
  }
};

bool holds_folder(const ImagePath& folder) {
  const std::vector<ImagePath> entries = data_entries(folder);
  return std::any_of(entries.begin(), entries.end(),
                     [](const ImagePath& one) { return std::filesystem::is_directory(one); });
}

/// Advice to read the tables of the folder, if it has some; "": none. A trained run has its table in
/// labels.csv.
std::string labels_hint(const ImageConfig& config) {
  if (config.trained || config.labels == "none" || !std::filesystem::is_directory(config.path)) return "";
  std::vector<std::string> tables;
  for (const std::string& name : names_within(config.path))
    if (!ending_of(name, {".csv", ".tsv"}).empty())
      tables.push_back((ImagePath(config.path) / name).string());
  if (tables.empty()) return "";
  return fmt::format("; --labels {} (data.labels) reads the classes of the images from a table",
                     fmt::join(tables, " or --labels "));
}

std::vector<ClassFolder> class_folders(const ImagePath& root, LeftOut& left_out, const std::string& hint) {
  std::vector<ClassFolder> classes;
  for (const std::string& name : names_within(root)) {
    if (!std::filesystem::is_directory(root / name)) {
      left_out.add(root / name);
      continue;
    }
    ClassFolder& added = classes.emplace_back(ClassFolder{name, {}});
    for (const std::string& file : names_within(root / name)) {
      const ImagePath path = root / name / file;
      if (io::named_as_image(file) && std::filesystem::is_regular_file(path))
        added.files.push_back(path);
      else
        left_out.add(path);
    }
    require(!added.files.empty(), ErrorKind::data,
            "{}: expected images (.png, .jpg, .jpeg) of class '{}' in this folder, found none{}{}",
            (root / name).string(), name,
            holds_folder(root / name) ? "; images of its subfolders are not read" : "", hint);
  }
  return classes;
}

/// Folders of the splits train, validation, test; empty: no such folder. `others`: all other entries. A
/// folder without folders of classes is a class, if the names are not those of splits.
std::array<ImagePath, 3> part_folders(const ImagePath& root, std::set<std::string>& others) {
  std::array<ImagePath, 3> parts;
  const std::vector<std::string> entries = names_within(root);
  const bool splits = name_splits({entries.begin(), entries.end()});
  for (const std::string& entry : entries) {
    const std::optional<size_t> split = split_of_name(entry);
    if (split && parts[*split].empty() && std::filesystem::is_directory(root / entry) &&
        (splits || holds_folder(root / entry)))
      parts[*split] = root / entry;
    else
      others.insert(entry);
  }
  return parts;
}

/// Leaves out validation and test folders of images without classes, such as those of a competition.
void leave_unlabelled_out(ImageSet& set, std::array<ImagePath, 3>& parts) {
  for (ImagePath& part : std::span(parts).subspan(1)) {
    if (part.empty() || holds_folder(part)) continue;
    set.notes.push_back(
        fmt::format("{}: left out, because it has no folder of images per class; predict RUN --data {} "
                    "predicts its images",
                    part.string(), part.string()));
    part.clear();
  }
}

/// Appends the files of classes. Without `labelled` those of another folder than a class have none.
void add_class_files(ImageSet& set, const std::vector<ClassFolder>& found, const ImagePath& root,
                     std::vector<int64_t>* split, std::vector<ImagePath>& files, bool labelled) {
  const NameIndex classes(set.classes);
  for (const ClassFolder& folder : found) {
    const auto at = classes.find(folder.name);
    require(at.has_value() || !labelled, ErrorKind::data, "{}: class '{}' is {}",
            (root / folder.name).string(), folder.name,
            split == nullptr ? "not among data.classes" : "not among the training classes");
    for (const ImagePath& file : folder.files) {
      if (split != nullptr) split->push_back(std::ssize(files));
      files.push_back(file);
      set.labels.push_back(at ? static_cast<int64_t>(*at) : -1);
      set.names.push_back(folder.name + "/" + file.filename().string());
    }
  }
}

std::vector<std::string> names_of(const std::vector<ClassFolder>& folders, const ImageConfig& config) {
  if (!config.classes.empty()) return config.classes;
  std::vector<std::string> names;
  for (const ClassFolder& folder : folders) names.push_back(folder.name);
  return names;
}

/// Images without a class, for a trained model: one file, or those of a folder without subfolders.
std::vector<ImagePath> loose_files(ImageSet& set, const ImagePath& root) {
  std::vector<ImagePath> files;
  if (std::filesystem::is_regular_file(root)) {
    files.push_back(root);
  } else {
    for (const std::string& name : names_within(root)) {
      if (std::filesystem::is_directory(root / name)) return {};
      if (io::named_as_image(name)) files.push_back(root / name);
    }
  }
  for (const ImagePath& file : files) {
    set.test.push_back(std::ssize(set.labels));
    set.labels.push_back(-1);
    set.names.push_back(file.filename().string());
  }
  return files;
}

/// Says that the table has the classes, where the folders of the images could be classes, too.
void note_folders(ImageSet& set, const FolderFiles& files, const ImageConfig& config) {
  std::set<std::string> folders;
  for (const std::string& path : files.paths) {
    const size_t slash = path.find('/');
    if (slash == std::string::npos) return;
    folders.insert(path.substr(0, slash));
  }
  if (folders.size() < 2 || name_splits(folders) || !config.labels.empty()) return;
  set.notes.push_back(
      fmt::format("{}: the classes are those of labels.csv, not the folders {}; data.labels = none takes the "
                  "folders",
                  config.path, listed_names(std::vector(folders.begin(), folders.end()))));
}

/// Lists the files that a table labels. Removes the test images without `with_test`.
std::vector<ImagePath> list_labelled_files(ImageSet& set, const std::string& csv, const ImageConfig& config,
                                           bool with_test) {
  FolderFiles files{config.path, {}, without_image_ending};
  for (const ImagePath& file : data_files_below(files.root))
    if (io::named_as_image(file))
      files.paths.push_back(require_utf8(file).lexically_relative(files.root).generic_string());
  std::sort(files.paths.begin(), files.paths.end());
  require(!files.paths.empty(), ErrorKind::data,
          "{}: expected images (.png, .jpg, .jpeg) in this folder, which {} labels, found none", config.path,
          csv);
  const LabelTable table = read_file_labels(csv, config, without_image_ending);
  FileLabels labels = match_labels(set, table, files, config);
  set.classes = class_names(labels, config.classes, csv, config);
  note_folders(set, files, config);
  std::vector<ImagePath> taken, kept;
  for (const size_t i :
       take_files(set, files, std::move(labels), table, config.split_ratios, config.split_seed))
    taken.push_back(files.root / files.paths[i]);
  set.names = short_names(set.names);
  set.split_here = !set.drawn.empty();
  if (with_test) return taken;
  for (const int64_t i : leave_test_out(set)) kept.push_back(taken[static_cast<size_t>(i)]);
  return kept;
}

/// Lists the files of all images without reading them.
std::vector<ImagePath> list_files(ImageSet& set, const ImageConfig& config, bool with_test,
                                  LeftOut& left_out) {
  if (const std::string csv = config.table_of(config.path); !csv.empty())
    return list_labelled_files(set, csv, config, with_test);
  ImagePath root = config.path;
  std::vector<ImagePath> files;
  if (!config.classes.empty()) files = loose_files(set, root);
  if (!files.empty()) {
    set.split_here = true;
    return files;
  }
  std::set<std::string> others;
  std::array<ImagePath, 3> parts = part_folders(root, others);
  if (!parts[0].empty()) {
    leave_unlabelled_out(set, parts);
    if (!others.empty()) set.notes.push_back(left_out_of_splits(config.path, others));
  }
  const std::string hint = labels_hint(config);
  const bool only_train = !parts[0].empty() && parts[1].empty() && parts[2].empty();
  if (only_train) root = parts[0];
  if (parts[0].empty() || only_train) {
    const std::vector<ClassFolder> found = class_folders(root, left_out, hint);
    set.classes = names_of(found, config);
    const bool listed = !hint.empty() || lower_extension(left_out.first) == ".json";
    require(found.size() != 1 || !listed || !config.labelled, ErrorKind::data,
            "{}: all images are in one folder, '{}', but a folder for each class, or a table of labels "
            "(labels.csv), is expected{}",
            config.path, found.empty() ? "" : found[0].name, hint);
    add_class_files(set, found, root, nullptr, files, config.labelled);
    require(!files.empty(), ErrorKind::data,
            "{}: expected one folder of images (.png, .jpg, .jpeg) per class, or folders train and test of "
            "such folders, or labels.csv with the columns file and label, found none{}",
            config.path, hint);
    split_by_class(set, config.split_ratios, config.split_seed);
    set.split_here = true;
    if (with_test) return files;
    std::vector<ImagePath> kept;
    for (const int64_t i : leave_test_out(set)) kept.push_back(files[static_cast<size_t>(i)]);
    return kept;
  }
  const std::array<std::vector<int64_t>*, 3> splits = {&set.train, &set.validation, &set.test};
  for (size_t i = 0; i < (with_test ? 3 : 2); ++i) {
    if (parts[i].empty()) continue;
    const std::vector<ClassFolder> found = class_folders(parts[i], left_out, hint);
    require(!found.empty(), ErrorKind::data, "{}: expected one folder of images per class, found none{}",
            parts[i].string(), hint);
    if (i == 0) set.classes = names_of(found, config);
    add_class_files(set, found, parts[i], splits[i], files, config.labelled);
  }
  return files;
}

}  // namespace

ImageSet read_image_folders(const ImageConfig& config, bool with_test) {
  ImageSet set;
  LeftOut left_out;
  const std::vector<ImagePath> files = list_files(set, config, with_test, left_out);
  if (left_out.count > 0) {
    set.warn(
        fmt::format("skipped {} of the entries of {}: not an image (.png, .jpg, .jpeg) of a class; "
                    "the first: {}{}",
                    left_out.count, config.path, left_out.first, labels_hint(config)));
  }
  io::ImageReadOptions options;
  if (!config.size.empty()) options = {config.size[0], config.size[1]};
  options.allow_size = config.allow_size;
  int64_t bytes = 0;
  std::error_code missing;  // the reader reports it
  for (const ImagePath& file : files)
    if (const uintmax_t size = std::filesystem::file_size(file, missing); !missing)
      bytes += static_cast<int64_t>(size);
  ImageStore store(config, std::ssize(files), bytes);
  BrokenFiles broken(config.skip_broken, std::ssize(files));
  std::vector<bool> out(files.size(), false);
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string file = files[i].string();
    std::string remark;
    options.remark = &remark;
    io::Image image;
    out[i] = !broken.read([&] { image = io::read_image(files[i], options); });
    if (out[i]) continue;
    if (!remark.empty()) broken.note_damaged(file, remark);
    store.put(static_cast<int64_t>(i), std::move(image), file);
  }
  const std::vector<int64_t> kept = leave_out(set, out);
  require(!kept.empty() || files.empty(), ErrorKind::data, "{}: no image can be read: {}", config.path,
          fmt::join(broken.warnings(), "; "));
  set.pixels = store.take();
  if (kept.size() < files.size()) set.pixels = at::index_select(set.pixels, 0, at::tensor(kept, at::kLong));
  for (std::string& warning : broken.warnings()) set.warn(std::move(warning));
  return set;
}

}  // namespace modewise::data
