#include "modewise/io/tables/ts_file.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/text_input.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

bool is_missing_mark(std::string_view cell) {
  return cell == "?" || lower_case(cell) == "nan";
}

/// Cuts off and returns the part of `rest` before `mark`; all of it if there is none.
std::string_view cut(std::string_view& rest, char mark) {
  const size_t at = std::min(rest.find(mark), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

/// Declarations of the header; nullopt if absent.
struct TsHeader {
  std::optional<bool> missing, univariate, equal_length, labelled;
  std::optional<int64_t> dimensions, length;
};

class TsReader {
 public:
  TsReader(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  SeriesFile read() {
    while (const auto line = next_line()) {
      require((*line)[0] == '@', ErrorKind::data, "{}:{}: expected a header line such as @data, got {}",
              source_, line_, quote_for_message(line->substr(0, 40)));
      if (header_line(line->substr(1))) break;
    }
    require(seen_.contains("data"), ErrorKind::data, "{}: no line @data followed by samples", source_);
    check_header();
    reserve();
    while (const auto line = next_line()) add_case(*line);
    require(file_.samples() > 0, ErrorKind::data, "{}: no samples after @data", source_);
    finish();
    return std::move(file_);
  }

 private:
  /// The next line that is neither empty nor a comment, stripped of spaces.
  std::optional<std::string_view> next_line() {
    while (!rest_.empty()) {
      ++line_;
      std::string_view line = cut(rest_, '\n');
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      line = strip_spaces(line);
      if (!line.empty() && line.front() != '#' && line.front() != '%') return line;
    }
    return std::nullopt;
  }

  /// Parses a header line; true if it is @data.
  bool header_line(std::string_view line) {
    std::vector<std::string_view> words;
    while (!(line = strip_spaces(line)).empty()) words.push_back(cut_word(line));
    require(!words.empty(), ErrorKind::data, "{}:{}: '@' without a name", source_, line_);
    std::string key = lower_case(words.front());
    if (key == "dimension") key = "dimensions";
    require(seen_.insert(key).second, ErrorKind::data, "{}:{}: duplicate @{}", source_, line_, words.front());
    words.erase(words.begin());
    if (key == "data") {
      require(words.empty(), ErrorKind::data, "{}:{}: expected nothing after @data on its line", source_,
              line_);
      return true;
    }
    declare(key, words);
    return false;
  }

  /// Cuts off the first word of `line`, or its first name in quotes.
  static std::string_view cut_word(std::string_view& line) {
    const bool mark = line.front() == '"' || line.front() == '\'';
    const bool quoted = mark && line.find(line.front(), 1) != std::string_view::npos;
    const size_t end = quoted ? line.find(line.front(), 1) : std::min(line.find_first_of(" \t"), line.size());
    const std::string_view word = line.substr(quoted ? 1 : 0, quoted ? end - 1 : end);
    line.remove_prefix(quoted ? end + 1 : end);
    return word;
  }

  void declare(const std::string& key, const std::vector<std::string_view>& words) {
    if (key == "problemname") {
      for (const std::string_view word : words)
        file_.name += (file_.name.empty() ? "" : " ") + std::string(word);
    } else if (key == "timestamps") {
      require(
          !truth(key, words), ErrorKind::data,
          "{}:{}: series with time stamps are not supported; write the values alone, evenly spaced in time",
          source_, line_);
    } else if (key == "missing") {
      header_.missing = truth(key, words);
    } else if (key == "univariate") {
      header_.univariate = truth(key, words);
    } else if (key == "equallength") {
      header_.equal_length = truth(key, words);
    } else if (key == "dimensions") {
      header_.dimensions = count(key, words);
    } else if (key == "serieslength") {
      if (words != std::vector<std::string_view>{"0"} && words != std::vector<std::string_view>{"-1"})
        header_.length = count(key, words);
    } else if (key == "classlabel") {
      declare_classes(words);
    } else if (key == "targetlabel") {
      require(!truth(key, words), ErrorKind::data,
              "{}:{}: @targetLabel is for regression; a classifier needs @classLabel true with its classes",
              source_, line_);
      if (!header_.labelled) header_.labelled = false;
    } else {
      file_.notes.push_back(fmt::format("line {}: @{} is ignored", line_, quote_for_message(key)));
    }
  }

  bool truth(const std::string& key, const std::vector<std::string_view>& words) {
    const std::string word = words.size() == 1 ? lower_case(words.front()) : "";
    require(word == "true" || word == "false", ErrorKind::data, "{}:{}: @{} must be true or false", source_,
            line_, key);
    return word == "true";
  }

  int64_t count(const std::string& key, const std::vector<std::string_view>& words) {
    double value = 0;
    const bool whole = words.size() == 1 && parse_number(words.front(), '.', value) && value >= 1 &&
                       value <= 1e9 && value == static_cast<double>(static_cast<int64_t>(value));
    require(whole, ErrorKind::data, "{}:{}: @{} must be one integer from 1 to 10^9", source_, line_, key);
    return static_cast<int64_t>(value);
  }

  void declare_classes(const std::vector<std::string_view>& words) {
    header_.labelled = !words.empty() && truth("classLabel", {words.front()});
    require(!words.empty(), ErrorKind::data, "{}:{}: @classLabel must be true, with the classes, or false",
            source_, line_);
    if (!*header_.labelled) {
      require(words.size() == 1, ErrorKind::data, "{}:{}: @classLabel is false, but it names {}", source_,
              line_, counted(words.size() - 1, "class"));
      return;
    }
    require(words.size() > 1, ErrorKind::data, "{}:{}: @classLabel is true, but no class follows it", source_,
            line_);
    for (const std::string_view word : std::span(words).subspan(1)) {
      require(classes_.emplace(std::string(word), static_cast<int32_t>(classes_.size())).second,
              ErrorKind::data,
              "{}:{}: class {} is declared twice; spaces separate the classes, so write a class name of "
              "several words in quotes, here and in the samples",
              source_, line_, quote_for_message(word));
      file_.classes.emplace_back(word);
    }
  }

  void check_header() {
    require(header_.labelled.has_value(), ErrorKind::data,
            "{}: the header has no @classLabel, so that the last part of a sample may be values or a class; "
            "add @classLabel true CLASSES, or @classLabel false",
            source_);
    require(!header_.univariate.value_or(false) || header_.dimensions.value_or(1) == 1, ErrorKind::data,
            "{}: @univariate is true, but @dimensions is {}", source_, header_.dimensions.value_or(1));
    if (header_.length && !header_.equal_length.value_or(true)) {
      file_.notes.push_back(
          fmt::format("@seriesLength {} is ignored, because @equalLength is false", *header_.length));
      header_.length.reset();
    }
    file_.dimensions = header_.univariate.value_or(false) ? 1 : header_.dimensions.value_or(0);
  }

  /// Reserves exactly, by the number of separators.
  void reserve() {
    size_t separators = 0, lines = 1;
    for (const char c : rest_) {
      separators += c == ',' || c == ':';
      lines += c == '\n';
    }
    file_.values.reserve(separators + (*header_.labelled ? 0 : lines));
    file_.lengths.reserve(std::min(lines, rest_.size() / 2 + 1));
    if (*header_.labelled) file_.labels.reserve(std::min(lines, rest_.size() / 3 + 1));
  }

  void add_case(std::string_view line) {
    int64_t dimensions = 0, length = 0;
    if (!*header_.labelled && line.back() == ':') line.remove_suffix(1);
    const size_t last = *header_.labelled ? class_mark(line) : line.size();
    require(last != std::string_view::npos, ErrorKind::data,
            "{}:{}: expected values, ':' and a class, got no ':'", source_, line_);
    for (std::string_view series = line.substr(0, last);; ++dimensions) {
      const bool more = series.find(':') != std::string_view::npos;
      const int64_t steps = add_series(cut(series, ':'), dimensions + 1);
      require(dimensions == 0 || steps == length, ErrorKind::data,
              "{}:{}: dimension {} has {}, the first has {}; the dimensions of a sample must be equally long",
              source_, line_, dimensions + 1, counted(steps, "value"), length);
      length = steps;
      if (!more) break;
    }
    check_case(dimensions + 1, length);
    file_.lengths.push_back(static_cast<int32_t>(length));
    if (*header_.labelled) file_.labels.push_back(label_of(strip_spaces(line.substr(last + 1))));
  }

  /// The last ':' of a sample, outside of a class in quotes.
  static size_t class_mark(std::string_view line) {
    const char quote = line.back();
    const bool quoted = line.size() > 1 && (quote == '"' || quote == '\'');
    const size_t open = quoted ? line.rfind(quote, line.size() - 2) : std::string_view::npos;
    return line.rfind(':', open);
  }

  int64_t add_series(std::string_view text, int64_t dimension) {
    int64_t steps = 0;
    text = strip_spaces(text);
    require(!text.empty(), ErrorKind::data, "{}:{}: dimension {} has no values", source_, line_, dimension);
    if (text.size() > 1 && text.back() == ',' &&
        strip_spaces(text.substr(0, text.size() - 1)).back() != ',') {
      text.remove_suffix(1);
      if (trailing_comma_ == 0) trailing_comma_ = line_;
    }
    for (bool more = true; more; ++steps) {
      more = text.find(',') != std::string_view::npos;
      const std::string_view cell = strip_spaces(cut(text, ','));
      double value = std::numeric_limits<double>::quiet_NaN();
      if (is_missing_mark(cell)) {
        if (++file_.missing == 1 && !header_.missing.value_or(true))
          file_.notes.push_back(
              fmt::format("line {}: value {} of dimension {} is missing, but @missing is false", line_,
                          steps + 1, dimension));
      } else if (!parse_number(cell, '.', value) || !fits_float(value)) {
        refuse_value(cell, steps + 1, dimension);
      }
      file_.values.push_back(static_cast<float>(value));
    }
    return steps;
  }

  static bool fits_float(double value) {
    return value >= -static_cast<double>(std::numeric_limits<float>::max()) &&
           value <= static_cast<double>(std::numeric_limits<float>::max());
  }

  [[noreturn]] void refuse_value(std::string_view cell, int64_t step, int64_t dimension) const {
    if (!cell.empty() && cell.front() == '(')
      fail(ErrorKind::data,
           "{}:{}: {} is a value with a time stamp; series with time stamps are not supported; write the "
           "values alone, evenly spaced in time",
           source_, line_, quote_for_message(cell));
    fail(ErrorKind::data, "{}:{}: value {} of dimension {} is {}, which is not a finite number", source_,
         line_, step, dimension, quote_for_message(cell));
  }

  void check_case(int64_t dimensions, int64_t length) {
    if (file_.dimensions == 0) file_.dimensions = dimensions;
    const char* rule = header_.univariate.value_or(false) ? "@univariate requires 1"
                       : header_.dimensions               ? "@dimensions is"
                                                          : "the first sample has";
    require(dimensions == file_.dimensions, ErrorKind::data, "{}:{}: the sample has {}, {}{}", source_, line_,
            counted(dimensions, "dimension"), rule,
            header_.univariate.value_or(false) ? "" : fmt::format(" {}", file_.dimensions));
    require(header_.univariate.value_or(true) || header_.dimensions || dimensions > 1, ErrorKind::data,
            "{}:{}: the sample has 1 dimension, but @univariate is false", source_, line_);
    require(!header_.length || length == *header_.length, ErrorKind::data,
            "{}:{}: the sample has {}, but @seriesLength is {}", source_, line_, counted(length, "step"),
            header_.length.value_or(0));
    if (header_.equal_length.value_or(false) && !file_.lengths.empty())
      require(length == file_.lengths.front(), ErrorKind::data,
              "{}:{}: the sample has {}, the first has {}, but @equalLength is true", source_, line_,
              counted(length, "step"), file_.lengths.front());
  }

  int32_t label_of(std::string_view word) {
    if (word == "?") {
      if (file_.unlabelled_line == 0) file_.unlabelled_line = line_;
      return -1;
    }
    const bool quoted = word.size() > 1 && (word.front() == '"' || word.front() == '\'');
    if (quoted && word.back() == word.front()) word = word.substr(1, word.size() - 2);
    word_ = word;
    if (const auto found = classes_.find(word_); found != classes_.end()) return found->second;
    // aeon and sktime ignore upper and lower case in classes.
    std::optional<int32_t> alike;
    for (const auto& [name, number] : classes_)
      if (lower_case(name) == lower_case(word)) alike = alike ? -1 : number;
    require(alike.value_or(-1) >= 0, ErrorKind::data,
            "{}:{}: class {} is not one of the {} that @classLabel declares ({}); '?' is an unknown class",
            source_, line_, quote_for_message(word), classes_.size(), listed_names(file_.classes));
    file_.notes.push_back(fmt::format("line {}: class {} is taken as the declared class {}", line_,
                                      quote_for_message(word),
                                      quote_for_message(file_.classes[static_cast<size_t>(*alike)])));
    classes_.emplace(word_, *alike);
    return *alike;
  }

  void finish() {
    if (trailing_comma_ > 0)
      file_.notes.push_back(
          fmt::format("line {}: the comma after the last value is ignored; a missing value is '?' or NaN",
                      trailing_comma_));
    if (file_.unlabelled_line == 0 ||
        std::any_of(file_.labels.begin(), file_.labels.end(), [](int32_t label) { return label >= 0; }))
      return;
    file_.labels = {};
    file_.classes = {};
  }

  std::string_view rest_;
  const std::string& source_;
  int64_t line_ = 0;
  int64_t trailing_comma_ = 0;  // line of the first one; 0: none
  std::set<std::string> seen_;
  TsHeader header_;
  std::unordered_map<std::string, int32_t> classes_;
  std::string word_;
  SeriesFile file_;
};

}  // namespace

SeriesFile parse_ts(std::span<const std::byte> bytes, const std::string& source) {
  return TsReader(TextInput(bytes, source).text(), source).read();
}

SeriesFile read_ts(const std::string& path) {
  const MappedFile file(path);
  return parse_ts(file.bytes(), path);
}

}  // namespace modewise::io
