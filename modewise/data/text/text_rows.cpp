#include "modewise/data/text/text_rows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/nearest_name.h"
#include "modewise/core/standard_streams.h"
#include "modewise/data/text/text_files.h"
#include "modewise/io/json_lines.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/tables/text_table.h"
#include "modewise/io/text_input.h"

namespace modewise::data {
namespace {

using Json = nlohmann::json;

constexpr size_t kLongestText = size_t{1} << 20;
constexpr const char* kBrokenAdvice = " (data.allow_broken skips such rows)";

size_t column_of(const std::vector<std::string>& names, const std::string& wanted, const std::string& source,
                 const std::string& rule) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  require(found != names.end(), ErrorKind::data, "{}:1: there is no column '{}'{}; {}: {}", source, wanted,
          nearest_name_hint(wanted, names), rule, fmt::join(names, ", "));
  require(std::find(found + 1, names.end(), wanted) == names.end(), ErrorKind::data,
          "{}:1: there is more than one column '{}': rename all but one", source, wanted);
  return static_cast<size_t>(found - names.begin());
}

constexpr const char* kColumnRule = "set data.text, data.pair and data.label";

/// Usual names of the columns of pairs, as in STS-B, SNLI, QQP and QNLI.
constexpr std::array<std::array<const char*, 2>, 6> kUsualPairs = {{{"sentence1", "sentence2"},
                                                                    {"premise", "hypothesis"},
                                                                    {"question1", "question2"},
                                                                    {"question", "answer"},
                                                                    {"question", "sentence"},
                                                                    {"text1", "text2"}}};

/// "; set data.text, data.pair and data.label, here perhaps data.text=review and data.label=sentiment; the
/// columns are: review, sentiment", with the usual names among `names`.
std::string column_advice(const std::vector<std::string>& names, const TextDataConfig& config) {
  const UsualColumns usual = usual_columns(names);
  std::vector<std::string> options;
  const auto propose = [&](const char* option, const std::string& wanted, const std::string& found) {
    if (!found.empty() && std::find(names.begin(), names.end(), wanted) == names.end())
      options.push_back(fmt::format("{}={}", option, found));
  };
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto* pair =
      std::ranges::find_if(kUsualPairs, [&](const auto& one) { return has(one[0]) && has(one[1]); });
  const bool pairs = pair != kUsualPairs.end() && !has(config.text);
  propose("data.text", config.text, pairs ? (*pair)[0] : usual.text);
  if (pairs) propose("data.pair", config.pair, (*pair)[1]);
  propose("data.label", config.label, usual.label);
  if (names.size() == 1)
    for (const auto& [mark, word] :
         {std::pair(';', "semicolon"), std::pair('\t', "tab"), std::pair('|', "bar")})
      if (names[0].find(mark) != std::string::npos) options.push_back(fmt::format("data.delimiter={}", word));
  return fmt::format("{}{}; the columns are", kColumnRule,
                     options.empty() ? "" : fmt::format(", here perhaps {}", fmt::join(options, " and ")));
}

/// Rows from a table with the columns first, second and label, in this order.
TextRows rows_of(io::TextTable table, const std::string& source, bool pairs, bool labelled) {
  TextRows rows;
  rows.source = source;
  rows.lines = std::move(table.lines);
  rows.columns = std::move(table.names);
  rows.left_out = table.left_out;
  rows.first = std::move(table.columns[0]);
  if (pairs) rows.second = std::move(table.columns[1]);
  if (labelled) rows.labels = std::move(table.columns.back());
  return rows;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Rows with an empty text are an error, malformed rows, or empty lines, which have no text.
enum class EmptyText { refused, malformed, line };

EmptyText empty_text(bool allow_broken) {
  return allow_broken ? EmptyText::malformed : EmptyText::refused;
}

/// Skips rows with an empty text if allowed, else throws.
TextRows without_empty(TextRows rows, EmptyText empty) {
  const auto fault = [&](size_t i) -> const char* {
    if (is_blank(rows.first[i])) return rows.pairs() ? "the first text of the pair" : "the text";
    return rows.pairs() && is_blank(rows.second[i]) ? "the second text of the pair" : nullptr;
  };
  TextRows kept;
  kept.source = rows.source;
  kept.columns = rows.columns;
  kept.left_out = rows.left_out;
  bool any = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    const char* what = fault(i);
    if (what == nullptr) continue;
    any = true;
    require(empty != EmptyText::refused, ErrorKind::data, "{}: {} is empty{}", rows.place(i), what,
            kBrokenAdvice);
    if (empty == EmptyText::malformed) kept.left_out.add(rows.lines[i]);
  }
  if (!any) return rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (fault(i) != nullptr) continue;
    kept.lines.push_back(rows.lines[i]);
    kept.first.push_back(rows.first[i]);
    if (rows.pairs()) kept.second.push_back(rows.second[i]);
    if (rows.labelled()) kept.labels.push_back(rows.labels[i]);
  }
  require(kept.size() > 0, ErrorKind::data, "{}: no row contains a text", rows.source);
  return kept;
}

io::TextTableOptions table_options(bool allow_broken) {
  io::TextTableOptions options;
  options.leave_out_broken = allow_broken;
  options.longest_cell = kLongestText;
  options.leave_out_advice = kBrokenAdvice;
  return options;
}

TextRows read_own_table(const std::string& path, const TextDataConfig& config, bool tab) {
  const std::string& delimiter = config.delimiter;
  io::TextTableOptions options = table_options(config.allow_broken);
  options.delimiter = delimiter == "comma" || (delimiter == "auto" && !tab) ? ','
                      : delimiter == "semicolon"                            ? ';'
                      : delimiter == "bar"                                  ? '|'
                                                                            : '\t';
  options.quotes = options.delimiter != '\t';
  bool pairs = false, labelled = false;
  io::TextTable table = io::read_text_table(path, options, [&](const std::vector<std::string>& names) {
    const std::string rule = column_advice(names, config);
    std::vector<size_t> chosen = {column_of(names, config.text, path, rule)};
    const auto has = [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    const std::string pair = config.pair != "auto" ? config.pair : has("text2") ? "text2" : "pair";
    pairs = config.pair == "auto" ? has(pair) : config.pair != "none";
    if (pairs) chosen.push_back(column_of(names, pair, path, rule));
    labelled = has(config.label);
    if (labelled) chosen.push_back(column_of(names, config.label, path, rule));
    return chosen;
  });
  return rows_of(std::move(table), path, pairs, labelled);
}

/// Parses one text per line.
TextRows text_lines(std::span<const std::byte> bytes, const std::string& source, bool allow_broken) {
  io::TextTableOptions options = table_options(allow_broken);
  options.delimiter = '\0';  // never occurs in text
  options.header = false;
  const auto all = [](const std::vector<std::string>&) { return std::vector<size_t>{0}; };
  return without_empty(rows_of(io::parse_text_table(bytes, source, options, all), source, false, false),
                       EmptyText::line);
}

/// A label as text; numbers and booleans as in JSON.
std::string label_text(const Json& value, const std::string& place, const std::string& name) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  require(value.is_primitive(), ErrorKind::data, "{}: '{}' must be a text or a number, got {}", place, name,
          value.dump().substr(0, 40));
  return value.dump();
}

class JsonRows {
 public:
  JsonRows(const std::string& path, const TextDataConfig& config, size_t bytes)
      : path_(path), config_(config), bytes_(bytes) {
    rows_.source = path;
  }

  void add(const Json& object, int64_t line) {
    const std::string place = fmt::format("{}:{}", path_, line);
    if (rows_.lines.empty()) choose(object);
    if (rows_.lines.empty())
      for (const auto& [name, unused] : object.items()) rows_.columns.push_back(name);
    if (!pairs_ && config_.pair == "auto")
      for (const char* second : {"text2", "pair"})
        require(
            !object.contains(second), ErrorKind::data,
            "{}: the object has a second text '{}', but the first object of the file has none (data.pair = "
            "none reads single texts)",
            place, second);
    const auto label = object.find(config_.label);
    const std::string name = label == object.end() ? "" : label_text(*label, place, config_.label);
    if (!push(rows_.first, text_of(object, config_.text, place)) ||
        (pairs_ && !push(rows_.second, text_of(object, pair_, place))) || !rows_.labels.push_back(name))
      fail(ErrorKind::data, "{}: the texts exceed 4 GiB", place);
    any_label_ = any_label_ || !name.empty();
    rows_.lines.push_back(static_cast<uint32_t>(line));
    if (rows_.size() % 65536 == 0) io::require_rows_fit(rows_.size(), bytes_, path_);
  }

  TextRows take() {
    require(rows_.size() > 0, ErrorKind::data, "{}: there are no objects", path_);
    if (!any_label_) rows_.labels = {};
    return std::move(rows_);
  }

 private:
  /// Decides from the first object whether the file has pairs.
  void choose(const Json& object) {
    pair_ = config_.pair != "auto" ? config_.pair : object.contains("text2") ? "text2" : "pair";
    pairs_ = config_.pair == "auto" ? object.contains(pair_) : config_.pair != "none";
  }
  static bool push(io::TextCells& cells, const std::string& text) { return cells.push_back(text); }
  const std::string& text_of(const Json& object, const std::string& name, const std::string& place) const {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string()) {
      std::vector<std::string> names;
      for (const auto& [other, unused] : object.items()) names.push_back(other);
      require(found == object.end(), ErrorKind::data, "{}: field '{}' must be a text, got {}", place, name,
              object.value(name, Json()).dump().substr(0, 40));
      fail(ErrorKind::data, "{}: the object has no text field '{}'{}; {}: {}", place, name,
           nearest_name_hint(name, names), column_advice(names, config_), listed_names(names));
    }
    const auto& text = found->get_ref<const std::string&>();
    require(text.size() <= kLongestText, ErrorKind::data, "{}: a text of {} bytes; the maximum is {}", place,
            text.size(), kLongestText);
    return text;
  }

  const std::string& path_;
  const TextDataConfig& config_;
  size_t bytes_;
  TextRows rows_;
  std::string pair_;
  bool pairs_ = false, any_label_ = false;
};

}  // namespace

std::string TextRows::place(size_t row) const {
  return fmt::format("{}:{}", source, lines[row]);
}

void TextRows::refuse_without_labels(const TextDataConfig& config) const {
  fail(ErrorKind::data, "{}:1: there is no column '{}'{}; {}: {}", source, config.label,
       nearest_name_hint(config.label, columns), column_advice(columns, config), listed_names(columns));
}

TextRows read_glue_rows(const std::string& path, const GlueLayout& layout, bool test, bool allow_broken) {
  io::TextTableOptions options = table_options(allow_broken);
  options.header = layout.header || test;
  bool labelled = !test;
  io::TextTable table = io::read_text_table(path, options, [&](const std::vector<std::string>& names) {
    if (!options.header) {
      require(names.size() == layout.columns, ErrorKind::data,
              "{}:1: {} cells, but {} has {} without a header", path, names.size(), layout.title,
              layout.columns);
      return std::vector<size_t>{layout.text_column, layout.label_column};
    }
    const std::string rule = fmt::format("the layout of {} needs it, and the header has", layout.title);
    std::vector<size_t> chosen = {column_of(names, layout.first, path, rule)};
    if (layout.pairs()) chosen.push_back(column_of(names, layout.second, path, rule));
    labelled = !test || std::find(names.begin(), names.end(), layout.label) != names.end();
    if (labelled) chosen.push_back(column_of(names, layout.label, path, rule));
    return chosen;
  });
  return without_empty(rows_of(std::move(table), path, layout.pairs(), labelled), empty_text(allow_broken));
}

const std::vector<std::string>& own_endings() {
  static const std::vector<std::string> all = {".jsonl", ".csv", ".tsv", ".txt", ".ndjson", ".json"};
  return all;
}

bool is_text_lines(const std::string& path) {
  return path == "-" || lower_extension(path) == ".txt";
}

TextRows read_own_rows(const std::string& path, const TextDataConfig& config) {
  if (path == "-") return text_lines(as_bytes(read_standard_input()), "standard input", config.allow_broken);
  const std::string ending = lower_extension(path);
  require(std::find(own_endings().begin(), own_endings().end(), ending) != own_endings().end(),
          ErrorKind::data, "{}: expected a text file: {}", path, fmt::join(own_endings(), ", "));
  if (ending == ".txt") return text_lines(io::MappedFile(path).bytes(), path, config.allow_broken);
  if (ending == ".csv" || ending == ".tsv")
    return without_empty(read_own_table(path, config, ending == ".tsv"), empty_text(config.allow_broken));
  const io::MappedFile file(path);
  JsonRows rows(path, config, file.bytes().size());
  io::for_each_json_line(io::TextInput(file.bytes(), path).text(), path,
                         [&](const Json& object, int64_t line) { rows.add(object, line); });
  return without_empty(rows.take(), empty_text(config.allow_broken));
}

}  // namespace modewise::data
