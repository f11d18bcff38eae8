#include "modewise/io/tables/arff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/column_names.h"
#include "modewise/io/text_input.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

constexpr size_t kMaxClasses = 65536;

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return out;
}

bool is_quote(char c) {
  return c == '\'' || c == '"';
}

/// Declarations of the header.
struct ArffHeader {
  int64_t cells = 0;                     // of a row
  int64_t steps = 0;                     // number of numeric attributes, of the row or the relation
  std::optional<int64_t> of_class;       // the cell of the class
  std::optional<int64_t> of_dimensions;  // the relational cell
  std::string class_name;
};

class ArffReader {
 public:
  ArffReader(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  SeriesFile read() {
    while (const auto line = next_line())
      if (header_line(*line)) break;
    require(at_data_, ErrorKind::data, "{}: no line @data followed by samples", source_);
    reserve();
    while (const auto line = next_line()) add_case(*line);
    require(file_.samples() > 0, ErrorKind::data, "{}: no samples after @data", source_);
    if (std::all_of(file_.labels.begin(), file_.labels.end(), [](int32_t label) { return label < 0; })) {
      file_.labels = {};
      file_.classes = {};
    }
    if (trailing_comma_ > 0)
      file_.notes.push_back(
          fmt::format("line {}: the comma after the last cell is ignored", trailing_comma_));
    return std::move(file_);
  }

 private:
  /// The next line that is neither empty nor a comment, stripped of spaces.
  std::optional<std::string_view> next_line() {
    while (!rest_.empty()) {
      ++line_;
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      line = strip_spaces(line);
      if (!line.empty() && line.front() != '%') return line;
    }
    return std::nullopt;
  }

  /// Cuts a word off the front of `text`: up to a space or one of `ends`, or a quoted string.
  std::string cut_word(std::string_view& text, std::string_view ends) {
    text = strip_spaces(text);
    std::string word;
    if (text.empty() || !is_quote(text.front())) {
      const size_t end = std::min(text.find_first_of(ends), text.size());
      word = strip_spaces(text.substr(0, end));
      text.remove_prefix(end);
      return word;
    }
    const char quote = text.front();
    size_t at = 1;
    for (; at < text.size() && text[at] != quote; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) {
        ++at;
        word += text[at] == 'n' ? '\n' : text[at] == 't' ? '\t' : text[at];
      } else {
        word += text[at];
      }
    }
    require(at < text.size(), ErrorKind::data, "{}:{}: unclosed quote ({})", source_, line_, quote);
    text = strip_spaces(text.substr(at + 1));
    return word;
  }

  /// Parses a header line; true if it is @data.
  bool header_line(std::string_view line) {
    require(line.front() == '@', ErrorKind::data,
            "{}:{}: expected a header line such as @attribute or @data, got {}", source_, line_,
            quote_for_message(line));
    const std::string key = lower_case(cut_word(line, " \t"));
    if (key == "@relation") {
      file_.name = cut_word(line, " \t");
    } else if (key == "@attribute") {
      attribute(line);
    } else if (key == "@end") {
      require(relation_open_, ErrorKind::data, "{}:{}: @end closes a relational attribute, but none is open",
              source_, line_);
      relation_open_ = false;
    } else {
      require(key == "@data", ErrorKind::data, "{}:{}: expected @relation, @attribute, @end or @data, got {}",
              source_, line_, quote_for_message(key));
      check_header();
      at_data_ = true;
    }
    return at_data_;
  }

  void attribute(std::string_view line) {
    const std::string name = cut_word(line, " \t{");
    line = strip_spaces(line);
    require(!name.empty() && !line.empty(), ErrorKind::data,
            "{}:{}: expected @attribute, a name and a type such as numeric or {{a, b}}", source_, line_);
    if (line.front() == '{') return declare_classes(name, line.substr(1));
    const std::string type = lower_case(cut_word(line, " \t"));
    if (type == "relational") {
      require(
          !header_.of_dimensions && !relation_open_, ErrorKind::data,
          "{}:{}: attribute {} is a second relational attribute; the dimensions of a sample must be in one",
          source_, line_, quote_for_message(name));
      header_.of_dimensions = header_.cells++;
      relation_open_ = true;
      return;
    }
    require(
        type == "numeric" || type == "real" || type == "integer", ErrorKind::data,
        "{}:{}: attribute {} is of type {}; the attributes of series are numeric, and one is the class, {{a, "
        "b}}",
        source_, line_, quote_for_message(name), quote_for_message(type));
    ++header_.steps;
    file_.steps.push_back(name);
    if (relation_open_) return;
    last_numeric_ = name;
    require(!names_an_index(name), ErrorKind::data,
            "{}:{}: attribute {} is named like an index of the samples, but it is numeric, as the steps are; "
            "leave it out of the file, or give it another name",
            source_, line_, quote_for_message(name));
    ++header_.cells;
    plain_ = true;
  }

  void declare_classes(const std::string& name, std::string_view list) {
    require(!relation_open_, ErrorKind::data,
            "{}:{}: attribute {} of a relational attribute must be numeric, not nominal", source_, line_,
            quote_for_message(name));
    require(!header_.of_class, ErrorKind::data,
            "{}:{}: attributes {} and {} are both nominal, expected one class attribute", source_, line_,
            quote_for_message(header_.class_name), quote_for_message(name));
    header_.of_class = header_.cells++;
    header_.class_name = name;
    for (bool more = true; more;) {
      std::string word = cut_word(list, ",}");
      list = strip_spaces(list);
      require(!list.empty() && (list.front() == ',' || list.front() == '}'), ErrorKind::data,
              "{}:{}: the classes of attribute {} do not end in '}}'", source_, line_,
              quote_for_message(name));
      more = list.front() == ',';
      list.remove_prefix(1);
      require(!word.empty(), ErrorKind::data, "{}:{}: a class of attribute {} is empty", source_, line_,
              quote_for_message(name));
      require(file_.classes.size() < kMaxClasses, ErrorKind::data,
              "{}:{}: attribute {} has more than {} classes", source_, line_, quote_for_message(name),
              kMaxClasses);
      require(classes_.emplace(word, static_cast<int32_t>(classes_.size())).second, ErrorKind::data,
              "{}:{}: class {} is declared twice", source_, line_, quote_for_message(word));
      file_.classes.push_back(std::move(word));
    }
  }

  void check_header() {
    require(!relation_open_, ErrorKind::data, "{}:{}: @data before the @end of the relational attribute",
            source_, line_);
    require(header_.steps > 0, ErrorKind::data, "{}:{}: no numeric attribute is declared before @data",
            source_, line_);
    require(
        header_.of_class || !names_a_class(last_numeric_), ErrorKind::data,
        "{}:{}: attribute {} is numeric, a target of regression; declare its classes, {{a, b}}, to classify",
        source_, line_, quote_for_message(last_numeric_));
    require(
        !plain_ || !header_.of_dimensions, ErrorKind::data,
        "{}:{}: numeric attributes besides a relational one; the steps of a sample must be in one of the two",
        source_, line_);
  }

  /// Reserves by the number of separators: commas, line ends, and escaped \n. A value takes at least two
  /// bytes, a class two more.
  void reserve() {
    size_t within = 0, lines = 1;
    for (const char c : rest_) {
      within += c == ',' || c == '\\';
      lines += c == '\n';
    }
    const bool labelled = header_.of_class.has_value();
    const size_t rows = std::min(lines, rest_.size() / (labelled ? 4 : 2) + 1);
    file_.values.reserve(std::min(within + (labelled ? 0 : lines), rest_.size() / 2 + 1));
    file_.lengths.reserve(rows);
    if (labelled) file_.labels.reserve(rows);
  }

  void add_case(std::string_view row) {
    require(row.front() != '{', ErrorKind::data,
            "{}:{}: sparse rows, {{index value, …}}, are not supported; write every value", source_, line_);
    const size_t begin = file_.values.size();
    int64_t cell = 0, dimensions = 1;
    std::optional<std::string> label;
    const char* separator = row.find(',') == std::string_view::npos && header_.cells > 1 ? "\t" : ",";
    for (bool more = true; more; ++cell) {
      if (cell < header_.cells) {
        const std::string word = cut_word(row, separator);
        if (cell == header_.of_class)
          label = word;
        else if (cell == header_.of_dimensions)
          dimensions = add_dimensions(word);
        else
          add_value(word, cell + 1);
      } else {
        cut_word(row, separator);
      }
      more = !row.empty();
      require(!more || row.front() == *separator, ErrorKind::data,
              "{}:{}: expected ',' after cell {}, got {}", source_, line_, cell + 1, quote_for_message(row));
      if (more) row.remove_prefix(1);
      if (more && row.empty() && cell + 1 == header_.cells) {
        if (trailing_comma_ == 0) trailing_comma_ = line_;
        more = false;
      }
    }
    require(cell == header_.cells, ErrorKind::data, "{}:{}: the row has {}, but the header declares {}",
            source_, line_, counted(cell, "cell"), counted(header_.cells, "attribute"));
    end_case(begin, dimensions);
    if (label) add_label(*label);
  }

  int64_t add_dimensions(std::string_view lines) {
    int64_t dimensions = 0;
    for (bool more = true; more; ++dimensions) {
      const size_t end = std::min(lines.find('\n'), lines.size());
      std::string_view line = lines.substr(0, end);
      more = end + 1 < lines.size();
      lines.remove_prefix(std::min(end + 1, lines.size()));
      int64_t steps = 0;
      for (bool further = true; further; ++steps) {
        const size_t comma = std::min(line.find(','), line.size());
        if (steps < header_.steps) add_value(line.substr(0, comma), steps + 1);
        further = comma < line.size();
        line.remove_prefix(std::min(comma + 1, line.size()));
      }
      require(steps == header_.steps, ErrorKind::data,
              "{}:{}: dimension {} has {}, but the header declares {} for it", source_, line_, dimensions + 1,
              counted(steps, "value"), counted(header_.steps, "attribute"));
    }
    return dimensions;
  }

  void add_value(std::string_view cell, int64_t number) {
    cell = strip_spaces(cell);
    double value = 0;
    if (cell == "?" || lower_case(cell.substr(0, 4)) == "nan") {
      file_.values.push_back(std::numeric_limits<float>::quiet_NaN());
      return;
    }
    require(parse_number(cell, '.', value) && std::abs(value) <= std::numeric_limits<float>::max(),
            ErrorKind::data, "{}:{}: value {} is {}, which is not a finite number", source_, line_, number,
            quote_for_message(cell));
    file_.values.push_back(static_cast<float>(value));
  }

  /// Truncates the values from `begin` on, [dimensions, steps], after the last step that any dimension has.
  void end_case(size_t begin, int64_t dimensions) {
    if (file_.dimensions == 0) file_.dimensions = dimensions;
    require(dimensions == file_.dimensions, ErrorKind::data,
            "{}:{}: the sample has {}, the first sample has {}", source_, line_,
            counted(dimensions, "dimension"), file_.dimensions);
    float* values = file_.values.data() + begin;
    const int64_t declared = header_.steps;
    int64_t steps = 0;
    for (int64_t i = 0; i < dimensions * declared; ++i)
      if (!std::isnan(values[i])) steps = std::max(steps, i % declared + 1);
    require(steps > 0, ErrorKind::data, "{}:{}: the sample has no values", source_, line_);
    for (int64_t v = 1; v < dimensions; ++v) std::copy_n(values + v * declared, steps, values + v * steps);
    const int64_t kept = dimensions * steps;
    file_.values.resize(begin + static_cast<size_t>(kept));
    file_.missing += std::count_if(values, values + kept, [](float x) { return std::isnan(x); });
    file_.lengths.push_back(static_cast<int32_t>(steps));
  }

  void add_label(const std::string& word) {
    if (word == "?") {
      if (file_.unlabelled_line == 0) file_.unlabelled_line = line_;
      file_.labels.push_back(-1);
      return;
    }
    const auto found = classes_.find(word);
    require(found != classes_.end(), ErrorKind::data,
            "{}:{}: class {} is not one of the {} that attribute {} declares", source_, line_,
            quote_for_message(word), classes_.size(), quote_for_message(header_.class_name));
    file_.labels.push_back(found->second);
  }

  std::string_view rest_;
  const std::string& source_;
  int64_t line_ = 0;
  int64_t trailing_comma_ = 0;  // line of the first one; 0: none
  std::string last_numeric_;    // name of the last numeric attribute outside of a relation
  bool at_data_ = false, relation_open_ = false, plain_ = false;
  ArffHeader header_;
  std::unordered_map<std::string, int32_t> classes_;
  SeriesFile file_;
};

}  // namespace

SeriesFile parse_arff(std::span<const std::byte> bytes, const std::string& source) {
  return ArffReader(TextInput(bytes, source).text(), source).read();
}

SeriesFile read_arff(const std::string& path) {
  const MappedFile file(path);
  return parse_arff(file.bytes(), path);
}

}  // namespace modewise::io
