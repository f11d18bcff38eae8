#include "modewise/data/text/text_set.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/io/number_text.h"
#include "modewise/io/utf8.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxClasses = 10000;

/// Files of a config, and their GLUE layout.
struct TextFiles {
  const GlueLayout* layout = nullptr;  // null: your own data
  std::string train, validation, test, further;
  bool single = false;  // one file, split here
};

std::optional<double> number_in(std::string_view text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, last - first + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// The file of a folder with one of these names and a known extension; "": none.
std::string own_file(const fs::path& folder, std::initializer_list<const char*> names) {
  for (const char* name : names)
    for (const std::string& ending : own_endings())
      if (fs::is_regular_file(folder / (name + ending))) return (folder / (name + ending)).string();
  return "";
}

const GlueLayout* layout_of(const TextDataConfig& config) {
  if (config.glue == "none") return nullptr;
  if (config.glue != "auto") return &glue_layout(config.glue);
  const fs::path path = fs::absolute(config.path).lexically_normal();
  const bool folder = fs::is_directory(path);
  if (folder ? !fs::exists(path / "train.tsv") : path.extension() != ".tsv") return nullptr;
  return glue_layout_of(folder ? path : path.parent_path());
}

TextFiles files_of(const TextDataConfig& config) {
  TextFiles files{layout_of(config), "", config.validation, config.test, "", false};
  const fs::path path(config.path);
  require(fs::exists(path), ErrorKind::no_input, "there is no file or folder {}", config.path);
  if (!fs::is_directory(path)) {
    files.train = config.path;
    files.single = config.test.empty();
    return files;
  }
  if (files.layout != nullptr) {
    files.train = (path / "train.tsv").string();
    const std::string dev = (path / files.layout->dev).string();
    if (files.test.empty()) {
      files.test = dev;
      if (!files.layout->further_dev.empty()) files.further = (path / files.layout->further_dev).string();
    }
    if (files.validation.empty() && config.dev == "both") files.validation = dev;
    return files;
  }
  files.train = own_file(path, {"train", "training"});
  require(!files.train.empty(), ErrorKind::no_input,
          "{}: there is no train{} (for GLUE's files set data.glue)", config.path,
          fmt::join(own_endings(), ", train"));
  if (files.validation.empty()) files.validation = own_file(path, {"validation", "valid", "val", "dev"});
  if (files.test.empty()) files.test = own_file(path, {"test"});
  return files;
}

/// Class names, sorted as numbers if all are numbers, else as text.
std::vector<std::string> sorted_classes(const std::set<std::string>& names) {
  std::vector<std::string> out(names.begin(), names.end());
  const bool numbers =
      std::all_of(out.begin(), out.end(), [](const std::string& s) { return number_in(s).has_value(); });
  if (numbers)
    std::stable_sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
      return *number_in(a) < *number_in(b);
    });
  return out;
}

class TextSetBuilder {
 public:
  /// `labelled`: other labels than classes or numbers are errors.
  TextSetBuilder(const TextDataConfig& config, bool numbers, const TextFiles& files, bool labelled = true)
      : config_(config), numbers_(numbers), labelled_(labelled), layout_(files.layout) {
    set_.classes = config.classes;
    if (layout_ != nullptr) {
      set_.layout = layout_->name;
      if (config.classes.empty() && !numbers) set_.classes = layout_->classes;
    }
    set_.source = config.path;
  }

  /// Use of a file: its labels define the classes if none are set (train); every text has a label
  /// (validation too); or labels may be unknown (test).
  enum class Part { train, validation, test };

  /// Adds a file and returns the indices of its texts.
  std::vector<int64_t> add(const std::string& path, Part part) {
    const fs::path file(path);
    const bool glue = layout_ != nullptr && file.extension() == ".tsv";
    const bool test = file.filename().string().starts_with("test");
    TextRows rows =
        glue ? read_glue_rows(path, *layout_, test, config_.allow_broken) : read_own_rows(path, config_);
    if (const auto& left = rows.left_out; left.count > 0) {
      add_warning(set_, fmt::format("{}: {} malformed row{} skipped, {}in line {}", path, left.count,
                                    left.count == 1 ? "" : "s", left.count == 1 ? "" : "the first ",
                                    left.first_line));
    }
    require(set_.labels.empty() || rows.pairs() == set_.pairs(), ErrorKind::data, "{}: {}, but {} has {}",
            path, rows.pairs() ? "pairs of texts" : "single texts", config_.path,
            rows.pairs() ? "single texts" : "pairs");
    if (part == Part::test) take_unknown_labels(rows);
    check_labels(rows, part);
    if (part == Part::train && !numbers_ && set_.classes.empty()) find_classes(rows);
    classes_ = NameIndex(set_.classes);
    std::vector<std::string> stripped;
    for (const std::string& name : set_.classes) stripped.emplace_back(io::strip_spaces(name));
    stripped_classes_ = NameIndex(stripped);
    std::vector<int64_t> samples;
    const bool table = !is_text_lines(path);  // of others, empty lines are skipped
    const bool lines = !table || rows.left_out.count > 0;
    if (!table && rows.lines.back() > rows.size())
      set_.notes.push_back(fmt::format("{}: {} without a text skipped; texts are numbered by their lines",
                                       path, counted(rows.lines.back() - rows.size(), "line")));
    if (table && lines)
      set_.notes.push_back(fmt::format("{}: texts are numbered by their lines, as rows are skipped", path));
    for (size_t i = 0; i < rows.size(); ++i) {
      samples.push_back(set_.count());
      set_.names.push_back(std::to_string(lines ? rows.lines[i] : i + 1));
      require(set_.first.push_back(rows.first[i]) && (!rows.pairs() || set_.second.push_back(rows.second[i])),
              ErrorKind::data, "{}: the texts come to more than 4 GiB", rows.place(i));
      set_.labels.push_back(numbers_ ? -1 : label_of(rows, i));
      if (numbers_) set_.targets.push_back(target_of(rows, i));
    }
    return samples;
  }

  TextSet& set() { return set_; }

 private:
  /// Drops the labels of a file in which all are −1 and that is not a class, as in Hugging Face's GLUE.
  void take_unknown_labels(TextRows& rows) {
    const auto unknown = [](std::string_view label) { return io::strip_spaces(label) == "-1"; };
    if (!rows.labelled() || std::ranges::find(set_.classes, "-1") != set_.classes.end() ||
        !std::ranges::all_of(rows.labels, unknown))
      return;
    set_.notes.push_back(
        fmt::format("{}: all labels are -1, so the texts are read as unlabelled", rows.source));
    rows.labels = {};
  }

  /// Requires labels of training and validation texts; remembers the first text without one of others.
  void check_labels(const TextRows& rows, Part part) {
    if (!rows.labelled()) {
      if (part == Part::train && std::ranges::find(rows.columns, config_.label) == rows.columns.end() &&
          layout_ == nullptr && !rows.columns.empty())
        rows.refuse_without_labels(config_);
      if (set_.unlabelled.empty()) set_.unlabelled = rows.place(0);
      return;
    }
    size_t spaced = 0, row = 0, first = 0, without = rows.size();
    for (const std::string_view label : rows.labels) {
      const std::string_view own = io::strip_spaces(label);
      if (own.empty()) without = std::min(without, row);
      if (own.size() != label.size() && spaced++ == 0) first = row;
      ++row;
    }
    if (spaced > 0)
      add_warning(set_,
                  fmt::format("{}: spaces around {} label{} are ignored, as in {}", rows.place(first), spaced,
                              spaced == 1 ? "" : "s", io::quote_for_message(rows.labels[first])));
    if (without == rows.size()) return;
    if (set_.unlabelled.empty()) set_.unlabelled = rows.place(without);
    const bool any =
        std::ranges::any_of(rows.labels, [](auto label) { return !io::strip_spaces(label).empty(); });
    require(
        part == Part::test || !any, ErrorKind::data,
        "{}: the text has no {}: '{}' is empty; add it, or remove the row (data.label names another column; "
        "the columns are: {})",
        rows.place(without), numbers_ ? "target" : "class",
        layout_ == nullptr ? config_.label : layout_->label, listed_names(rows.columns));
  }

  void find_classes(const TextRows& rows) {
    std::set<std::string> names;
    for (const std::string_view text : rows.labels) {
      const std::string_view label = io::strip_spaces(text);
      if (!label.empty()) names.emplace(label);
      require(names.size() <= kMaxClasses, ErrorKind::data,
              "{}: more than {} classes in '{}': for numbers set text.objective = \"regression\"",
              rows.source, kMaxClasses, config_.label);
    }
    require(!names.empty(), ErrorKind::data,
            "{}: no text has a class in '{}'; set data.label (the columns are: {})", rows.source,
            config_.label, listed_names(rows.columns));
    set_.classes = sorted_classes(names);
    require(set_.classes.size() >= 2, ErrorKind::data, "{}: all texts have the class '{}'", rows.source,
            set_.classes.front());
    warn_of_similar_classes(set_);
  }

  int64_t label_of(const TextRows& rows, size_t i) const {
    if (!rows.labelled() || io::strip_spaces(rows.labels[i]).empty()) return -1;
    auto found = classes_.find(rows.labels[i]);
    if (!found) found = stripped_classes_.find(io::strip_spaces(rows.labels[i]));
    if (!found && labelled_)
      fail(ErrorKind::data, "{}: the label {} is not one of {}", rows.place(i),
           io::quote_for_message(rows.labels[i]), listed_names(set_.classes));
    return found ? static_cast<int64_t>(*found) : -1;
  }

  double target_of(const TextRows& rows, size_t i) const {
    if (!rows.labelled() || io::strip_spaces(rows.labels[i]).empty()) return std::nan("");
    const std::optional<double> value = number_in(rows.labels[i]);
    require(value.has_value() || !labelled_, ErrorKind::data, "{}: the target {} is not a number",
            rows.place(i), io::quote_for_message(rows.labels[i]));
    return value.value_or(std::nan(""));
  }

  const TextDataConfig& config_;
  bool numbers_, labelled_;
  const GlueLayout* layout_;
  TextSet set_;
  NameIndex classes_, stripped_classes_;  // of set_.classes, as they are and without spaces around them
};

void hash_texts(TextSet& set) {
  const auto number = [](std::string_view text) { return content_number(as_bytes(io::strip_spaces(text))); };
  hash_contents(
      set, [&](size_t i) { return number(set.first[i]) + (set.pairs() ? 31 * number(set.second[i]) : 0); });
}

}  // namespace

namespace {

/// Splits the texts of one file, from which a validation file takes none.
void split_file(TextSet& set, const TextDataConfig& config, bool with_test) {
  std::vector<double> ratios = config.split_ratios;
  if (!config.validation.empty()) {
    ratios[0] += ratios[1];
    ratios[1] = 0;
  }
  set.train.clear();
  split_by_class(set, ratios, config.split_seed);
  const bool few = std::ssize(set.classes) > set.count() / 2;  // about one text in each class
  if (few && std::ranges::all_of(set.classes, [](const auto& name) { return number_in(name).has_value(); }))
    set.split_rule +=
        "; labels that are values need text.objective = \"regression\" (--objective regression)";
  if (!with_test) set.test.clear();
}

/// Splits the texts of a file like those of the training, if they then have its hash.
void split_if_own(TextSet& set, const TextDataConfig& config, const std::string& trained, bool with_test) {
  if (!config.validation.empty() || !config.test.empty()) return;
  TextSet own = set;
  own.test.clear();
  split_file(own, config, true);
  bool same = hash_of(own) == trained;
  const std::vector<int64_t> test = std::exchange(own.test, {});
  same = same || hash_of(own) == trained;
  if (with_test) own.test = test;
  if (same) set = std::move(own);
}

}  // namespace

TextSet load_texts(const TextDataConfig& config, bool numbers, bool with_test) {
  const TextFiles files = files_of(config);
  require(files.layout == nullptr || files.layout->regression() == numbers, ErrorKind::config,
          "{} is {}: text.objective must be {}", files.layout == nullptr ? "" : files.layout->title,
          numbers ? "a classification task" : "a regression task",
          numbers ? "\"classification\"" : "\"regression\"");
  TextSetBuilder builder(config, numbers, files);
  TextSet& set = builder.set();
  using Part = TextSetBuilder::Part;
  set.train = builder.add(files.train, Part::train);
  if (files.single) split_file(set, config, with_test);
  if (!files.validation.empty())
    set.validation = builder.add(files.validation, Part::validation);
  else if (!files.single)
    take_validation(set, config.validation_share, config.split_seed);
  if (with_test && !files.test.empty())
    set.test = files.test == files.validation ? set.validation : builder.add(files.test, Part::test);
  if (!files.single && files.test.empty())
    set.split_rule = fmt::format("there is no test{}; data.test names a test file, --no-test trains without",
                                 fmt::join(own_endings(), ", test"));
  if (with_test && !files.further.empty()) set.further = builder.add(files.further, Part::test);
  hash_texts(set);
  return std::move(set);
}

TextSet load_texts_for(const std::string& file, const TextDataConfig& config, const TrainedTexts& trained,
                       bool with_test, bool labelled) {
  TextDataConfig wanted = config;
  wanted.path = file;
  wanted.classes = trained.classes;
  wanted.allow_broken = true;  // with a warning: the other rows can be used
  const bool numbers = trained.classes.empty();
  TextFiles files;
  files.layout = layout_of(wanted);
  TextSetBuilder builder(wanted, numbers, files, labelled);
  TextSet& set = builder.set();
  set.test = builder.add(file, TextSetBuilder::Part::test);
  require(set.pairs() == trained.pairs, ErrorKind::data, "{}: {}, but the run was trained on {}", file,
          set.pairs() ? "pairs of texts" : "single texts", trained.pairs ? "pairs" : "single texts");
  if (files.layout == nullptr && set.unlabelled.empty()) split_if_own(set, config, trained.hash, with_test);
  hash_texts(set);
  return std::move(set);
}

std::string hash_of(const TextSet& set) {
  ContentHash hash;
  const auto add = [&](const std::string& text) { hash.add(as_bytes(text)); };
  for (int64_t i = 0; i < set.count(); ++i) {
    const auto at = static_cast<size_t>(i);
    hash.add(as_bytes(set.first[at]));
    add(std::string(1, '\0'));
    if (set.pairs()) hash.add(as_bytes(set.second[at]));
    add(set.targets.empty() ? fmt::format("\n{}\n", set.labels[at]) : fmt::format("\n{}\n", set.targets[at]));
  }
  for (const auto* part : {&set.train, &set.validation, &set.test, &set.further})
    add(fmt::format("{}\n", fmt::join(*part, " ")));
  return hash.text();
}

}  // namespace modewise::data
