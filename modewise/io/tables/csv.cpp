#include "modewise/io/tables/csv.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/csv_column_reader.h"
#include "modewise/io/tables/csv_dialect.h"
#include "modewise/io/tables/csv_lines.h"
#include "modewise/io/tables/csv_sample.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/tables/other_text.h"
#include "modewise/io/tables/written_number.h"
#include "modewise/io/text_input.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

/// The names of a table's columns.
struct Names {
  std::vector<std::string> names;
  std::vector<bool> nameless;  // named by their number
};

/// Appends the texts of a further row of the header to the names.
void add_texts(std::vector<std::string>& names, const std::vector<std::string>& row) {
  for (size_t c = 0; c < std::min(names.size(), row.size()); ++c) {
    const std::string_view text = strip_spaces(row[c]);
    if (text.empty()) continue;
    if (!names[c].empty()) names[c] += ' ';
    names[c] += text;
  }
}

/// The names of a header of several rows. If they would not differ, a name of the first row is also that of
/// the columns without one behind it: spreadsheets write merged cells so.
std::vector<std::string> joined_names(const std::vector<std::string>& first,
                                      const std::vector<std::vector<std::string>>& more) {
  std::vector<std::string> names = first;
  if (more.empty()) return names;
  for (const std::vector<std::string>& row : more) add_texts(names, row);
  const std::set<std::string_view> distinct(names.begin(), names.end());
  if (distinct.size() == names.size()) return names;
  names = first;
  for (size_t c = 1; c < names.size(); ++c)
    if (names[c].empty()) names[c] = names[c - 1];
  for (const std::vector<std::string>& row : more) add_texts(names, row);
  return names;
}

/// The names of the columns, two of which may be equal.
Names read_names(CsvScanner& scanner, const CsvDialect& dialect, const std::string& source) {
  Names found;
  std::vector<std::string>& names = found.names;
  scanner.row([&](size_t, std::string_view cell) {
    if (names.size() < kCsvColumnLimit) names.emplace_back(strip_spaces(cell));
  });
  names = joined_names(names, dialect.more_names);
  require(!names.empty(), ErrorKind::data, "{}: there are no rows", source);
  dialect.name_fit.apply(names);
  require(scanner.cells() <= kCsvColumnLimit, ErrorKind::data, "{}:{}: {} columns; the limit is {}", source,
          scanner.line(), scanner.cells(), kCsvColumnLimit);
  if (dialect.header && dialect.header_after_comment) {
    if (dialect.delimiter == ' ' && names.size() > 1 &&
        names[0].find_first_not_of("#%/!") == std::string::npos)
      names.erase(names.begin());  // "# time x"
    else
      names[0] = strip_comment_mark(names[0]);
  }
  for (size_t c = 0; c < names.size(); ++c) {
    if (!dialect.header) names[c] = std::to_string(c + 1);
    found.nameless.push_back(names[c].empty());
    if (names[c].empty()) names[c] = "column " + std::to_string(c + 1);
  }
  return found;
}

/// Removes the rows of delimiters alone at the end, but not the first line; returns their number.
int64_t take_empty_rows(std::string_view& text, char delimiter) {
  int64_t rows = 0;
  std::string_view rest = text;
  const std::string blanks = std::string(" \t") + delimiter;
  while (true) {
    rest = rest.substr(0, rest.find_last_not_of("\r\n") + 1);
    const size_t begin = rest.find_last_of("\r\n") + 1;
    const std::string_view line = rest.substr(begin);
    if (begin == 0 || line.find(delimiter) == std::string_view::npos ||
        line.find_first_not_of(blanks) != std::string_view::npos)
      return rows;
    rest = text = rest.substr(0, begin);
    ++rows;
  }
}

/// Whether a later line begins with `header`.
bool begins_another_line(std::string_view text, std::string_view header) {
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at))
    if (text.substr(++at).starts_with(header)) return true;
  return false;
}

/// Leaves out the rows that repeat the header, as joined files have them; returns their number.
int64_t leave_out_repeated_headers(std::string_view text, LeftOutLines& lines) {
  constexpr int64_t kRepetitions = 1000;  // more are values of a column
  LeftOutLines left_out = lines;
  std::string_view header;
  int64_t number = 0, repeated = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = text.substr(0, end);
    ++number;
    if (header.empty() && !left_out.contains(number)) {
      header = line;
      if (!begins_another_line(text, header)) return 0;
    } else if (line == header && !line.empty()) {
      left_out.add({number, number});
      if (++repeated > kRepetitions) return 0;
    }
    text.remove_prefix(end);
    text.remove_prefix(text.starts_with("\r\n") ? 2 : text.empty() ? 0 : 1);
  }
  lines = std::move(left_out);
  return repeated;
}

/// The formats that the options allow.
FormatSet allowed_formats(const CsvOptions& options) {
  FormatSet set = kAllFormats;
  if (options.decimal != 0) set &= formats_with_decimal(options.decimal);
  if (options.thousands) set &= formats_with_thousands(*options.thousands);
  return set;
}

const char* name_of_mark(char mark) {
  switch (mark) {
    case ',':
      return "the comma";
    case '.':
      return "the point";
    case '\'':
      return "the apostrophe";
    default:
      return "the space";
  }
}

/// The only decimal mark of a set of formats; 0: there are both.
char only_decimal(FormatSet formats) {
  if ((formats & formats_with_decimal(',')) == 0) return '.';
  return (formats & formats_with_decimal('.')) == 0 ? ',' : 0;
}

/// Notes about columns; those of one text are joined.
class ColumnNotes {
 public:
  /// With a `noun` the note begins with the number of such things in all columns: "12 cells".
  void add(const std::string& column, const std::string& text, int64_t count = 0,
           const char* noun = nullptr) {
    auto note =
        std::find_if(notes_.begin(), notes_.end(), [&](const Note& known) { return known.text == text; });
    if (note == notes_.end()) note = notes_.insert(note, Note{text, noun, 0, {}});
    note->count += count;
    note->columns.push_back(column);
  }
  void append_to(std::vector<std::string>& out) const {
    constexpr size_t kShown = 4;
    for (const auto& [text, noun, count, columns] : notes_) {
      std::string names;
      for (size_t i = 0; i < std::min(columns.size(), kShown); ++i)
        names += (i == 0 ? "" : ", ") + quote_for_message(columns[i]);
      if (columns.size() > kShown) names += fmt::format(" and {} more", columns.size() - kShown);
      out.push_back(fmt::format("{} {}: {}{}", columns.size() == 1 ? "column" : "columns", names,
                                noun == nullptr ? "" : counted(count, noun) + " ", text));
    }
  }

 private:
  struct Note {
    std::string text;
    const char* noun;
    int64_t count;
    std::vector<std::string> columns;
  };
  std::vector<Note> notes_;
};

class TableReader {
 public:
  TableReader(std::string_view text, const std::string& source, const CsvOptions& options)
      : text_(text),
        source_(source),
        options_(options),
        dialect_(guess_dialect(text, source, options)),
        cells_{dialect_.decimal, options.plain_numbers, options.magnitudes, allowed_formats(options),
               MissingValues(options.missing, dialect_.decimal)} {}

  CsvTable read() {
    const int64_t empty_rows = take_empty_rows(text_, dialect_.delimiter);
    if (dialect_.header && !options_.plain_numbers)
      repeated_headers_ = leave_out_repeated_headers(text_, dialect_.left_out);
    CsvScanner scanner = new_scanner();
    const Names names = read_names(scanner, dialect_, source_);
    require_different(names.names, scanner);
    dialect_.left_out.width = names.names.size();
    const CsvScanner at_rows = dialect_.header ? scanner : new_scanner();
    // A row has at least one byte per column, so the reservation is bounded by the file's size.
    const auto rest = at_rows.rest();
    const size_t max_rows = std::min(count_filled_lines(rest), rest.size() / names.names.size() + 1);
    columns_.reserve(names.names.size());
    for (size_t c = 0; c < names.names.size(); ++c) {
      columns_.emplace_back(names.names[c], dialect_.kinds[c], cells_, max_rows,
                            options_.is_text && options_.is_text(names.names[c]));
    }
    read_rows(at_rows);
    require(rows_ > 0, ErrorKind::data, "{}: a header without rows", source_);
    // The kind guessed from the first rows may be wrong: such a column is read again as its actual kind.
    std::vector<size_t> open(columns_.size());
    std::iota(open.begin(), open.end(), size_t{0});
    finish(at_rows, open);
    open = decide_formats();
    reread(at_rows, open);
    finish(at_rows, open);
    if (columns_.size() == 1 && columns_[0].kind() == CsvColumn::text && advises())
      if (const std::string advice = advice_above_table(text_, source_, options_, dialect_.left_out);
          !advice.empty())
        fail(ErrorKind::data, "{}:1: expected names or values of a table; {}", source_, advice);
    if (!options_.plain_numbers) {
      note_lines(empty_rows);
      note_numbers();
    }
    return table(names.nameless);
  }

 private:
  /// Whether errors name the settings of forecasting tables.
  bool advises() const { return !options_.plain_numbers && !options_.series_in_rows; }

  CsvScanner new_scanner() const {
    CsvScanner scanner(text_, dialect_.delimiter, source_);
    scanner.leave_out(dialect_.left_out);
    return scanner;
  }

  /// `scanner` is behind the header.
  void require_different(const std::vector<std::string>& names, const CsvScanner& scanner) const {
    std::unordered_map<std::string_view, size_t> seen;
    for (size_t c = 0; c < names.size(); ++c) {
      const auto [other, is_new] = seen.emplace(names[c], c);
      if (is_new) continue;
      const std::vector<int64_t> more =
          dialect_.more_names.empty() && advises() ? lines_like_headers(scanner) : std::vector<int64_t>();
      fail(ErrorKind::data, "{}:{}: columns {} and {} are both named {}{}", source_, scanner.line(),
           other->second + 1, c + 1, quote_for_message(names[c]),
           more.empty()
               ? ""
               : fmt::format("; data.header_rows = {} adds the texts below to the names", more.size() + 1));
    }
  }

  void read_rows(CsvScanner scanner) {
    const size_t width = columns_.size();
    while (scanner.row([&](size_t c, std::string_view cell) {
      if (c < width) columns_[c].add(cell, scanner.line());
    })) {
      if (scanner.cells() != width)
        fail(ErrorKind::data, "{}:{}: expected {} as in the {}, got {}{}", source_, scanner.line(),
             counted(width - dialect_.name_fit.added(), "cell"), dialect_.header ? "header" : "first row",
             scanner.cells(), remedy_of_width(scanner));
      ++rows_;
    }
    dialect_.comments += scanner.comments();
  }

  static bool is_value(CellKind kind) { return kind == CellKind::number || kind == CellKind::date; }

  /// `scanner` is behind a row of another width.
  std::string remedy_of_width(CsvScanner scanner) const {
    if (!advises()) return {};
    if (const std::string advice = advice_above_table(text_, source_, options_, dialect_.left_out);
        !advice.empty())
      return "; " + advice;
    const int64_t first = scanner.line();
    int64_t last = first;
    const bool only_texts = std::all_of(columns_.begin(), columns_.end(), [](const CsvColumnReader& column) {
      return column.kind() == CsvColumn::text;
    });
    bool value = only_texts;  // a sentence may have as many cells as the table, but no number or date
    while (scanner.row([&](size_t, std::string_view cell) {
      value = value || is_value(kind_of(cell, cells_.decimal, cells_.missing));
    })) {
      if (scanner.cells() == columns_.size() && value)
        return fmt::format("; data.skip_lines = {} leaves it out", first);
      last = scanner.line();
      value = only_texts;
    }
    if (last == first) return fmt::format("; data.skip_lines = {} leaves it out", first);
    return fmt::format("; data.skip_lines = {}-{} leaves out the lines at the end", first, last);
  }

  void reread(CsvScanner scanner, const std::vector<size_t>& columns) {
    if (columns.empty()) return;
    std::vector<CsvColumnReader*> wanted(columns_.size(), nullptr);
    for (const size_t c : columns) wanted[c] = &columns_[c];
    while (scanner.row([&](size_t c, std::string_view cell) {
      if (wanted[c] != nullptr) wanted[c]->add(cell, scanner.line());
    })) {
    }
  }

  void finish(const CsvScanner& at_rows, std::vector<size_t> open) {
    while (!open.empty()) {
      std::erase_if(open, [&](size_t c) {
        const CsvColumnReader::Result result = columns_[c].finish(source_);
        if (result == CsvColumnReader::Result::misfit)
          columns_[c].fail_misfit(source_, remedy_of(columns_[c], at_rows));
        return result == CsvColumnReader::Result::good;
      });
      reread(at_rows, open);
    }
  }

  /// The lines below the header where no cell is a value of its column, such as a row of units; none if there
  /// are more than three.
  std::vector<int64_t> lines_like_headers(CsvScanner scanner) const {
    constexpr size_t kMaxLines = 3;
    std::vector<int64_t> lines;
    bool text = false, value = false;
    while (dialect_.header && scanner.row([&](size_t c, std::string_view cell) {
      const CellKind kind = kind_of(cell, cells_.decimal, cells_.missing);
      text = text || kind == CellKind::text;
      value = value || is_value(kind) ||
              (c < columns_.size() && columns_[c].kind() == CsvColumn::text && kind == CellKind::text &&
               !lines.empty());
    })) {
      if (!text || value) return lines;
      lines.push_back(scanner.line());
      if (lines.size() > kMaxLines) return {};
      text = value = false;
    }
    return {};
  }

  /// Whether at most one of several columns has a name, such as in "Sales report,,".
  bool has_title_for_header() const {
    size_t nameless = 0;
    for (size_t i = 0; i < columns_.size(); ++i)
      nameless += columns_[i].name() == fmt::format("column {}", i + 1);
    return dialect_.header && columns_.size() > 1 && nameless + 1 >= columns_.size();
  }

  std::string remedy_of(const CsvColumnReader& column, const CsvScanner& at_rows) const {
    if (!advises()) return {};
    if (has_title_for_header())
      if (const std::string advice = advice_above_table(text_, source_, options_, dialect_.left_out);
          !advice.empty())
        return "; " + advice;
    const std::vector<int64_t> lines = lines_like_headers(at_rows);
    if (std::find(lines.begin(), lines.end(), column.misfit_line()) != lines.end()) {
      std::string list;
      for (const int64_t line : lines) list += (list.empty() ? "" : ",") + std::to_string(line);
      return fmt::format(
          "; line{} {} look{} like units or further headers: data.skip_lines = {} leaves {} out{}",
          lines.size() == 1 ? "" : "s", list, lines.size() == 1 ? "s" : "", list,
          lines.size() == 1 ? "it" : "them",
          dialect_.more_names.empty() ? fmt::format(", data.header_rows = {} adds {} to the names",
                                                    lines.size() + 1, lines.size() == 1 ? "it" : "them")
                                      : "");
    }
    const std::string_view misfit = strip_spaces(column.misfit());
    if (misfit.starts_with('#') && column.misfit_count() == 1)
      return fmt::format("; data.skip_lines = {} leaves the line out", column.misfit_line());
    if (column.kind() == CsvColumn::date)
      return fmt::format("; data.skip_lines = {} leaves the line out", column.misfit_line());
    const int64_t count = column.misfit_count();
    if (misfit.size() > 40) return {};
    return fmt::format("; {} it: data.missing_texts = {} reads {} as missing",
                       count == 1 ? "one cell holds" : fmt::format("{} cells hold", count), misfit,
                       count == 1 ? "it" : "them");
  }

  /// Chooses the format of each column of numbers; the columns that have to be read again.
  std::vector<size_t> decide_formats() {
    std::vector<size_t> again;
    if (options_.plain_numbers) return again;
    const CsvColumnReader *point = nullptr, *comma = nullptr;  // the first columns with such a decimal mark
    for (const CsvColumnReader& column : columns_) {
      if (column.kind() != CsvColumn::number || !column.evidence().marked) continue;
      const char decimal = decimal_of(column.evidence());
      if (decimal == '.' && point == nullptr) point = &column;
      if (decimal == ',' && comma == nullptr) comma = &column;
    }
    require(!options_.series_in_rows || point == nullptr || comma == nullptr, ErrorKind::data,
            "{}: the decimal mark is the point in column {}, but the comma in column {}, and each row is one "
            "series; data.decimal and data.thousands set the marks",
            source_, point == nullptr ? "" : quote_for_message(point->name()),
            comma == nullptr ? "" : quote_for_message(comma->name()));
    decimal_proven_ = (point == nullptr) != (comma == nullptr);
    const char usual = !decimal_proven_ ? options_.usual_decimal : point != nullptr ? '.' : ',';
    for (size_t c = 0; c < columns_.size(); ++c) {
      CsvColumnReader& column = columns_[c];
      const NumberEvidence& evidence = column.evidence();
      if (column.kind() != CsvColumn::number || (!evidence.marked && evidence.written == 0)) continue;
      FormatSet formats = evidence.formats;
      if (evidence.marked) {
        const char own = decimal_of(evidence), decimal = own != 0 ? own : usual;
        if (decimal == 0) fail_open(column);
        formats &= formats_with_decimal(decimal);
      } else if (usual != 0 && (formats & formats_with_decimal(usual)) != 0) {
        formats &= formats_with_decimal(usual);
      }
      const NumberFormat format = kNumberFormats[static_cast<size_t>(std::countr_zero(formats))];
      if (evidence.written == 0 && format == NumberFormat{cells_.decimal, 0}) continue;
      column.start_again(format);
      again.push_back(c);
    }
    if (usual != 0) table_decimal_ = usual;
    return again;
  }

  /// The decimal mark that the numbers of a column prove; in a file with commas as delimiter a point is the
  /// decimal mark. 0: none.
  char decimal_of(const NumberEvidence& evidence) const {
    const char only = only_decimal(evidence.formats);
    if (only != 0 || dialect_.delimiter != ',') return only;
    return evidence.open.find('.') != std::string::npos ? '.' : 0;
  }

  [[noreturn]] void fail_open(const CsvColumnReader& column) const {
    const NumberEvidence& evidence = column.evidence();
    const char mark = evidence.open.find(',') == std::string::npos ? '.' : ',';
    double grouped = 0, decimal = 0;
    parse_written_number(evidence.open, {mark == '.' ? ',' : '.', mark}, grouped);
    parse_written_number(evidence.open, {mark, 0}, decimal);
    fail(ErrorKind::data,
         "{}:{}: column {} holds {}, which can be {} or {}: set data.thousands = {} if {} groups thousands, "
         "data.decimal = {} if it is the decimal mark",
         source_, evidence.open_line, quote_for_message(column.name()), quote_for_message(evidence.open),
         grouped, decimal, mark, name_of_mark(mark), mark);
  }

  void note_lines(int64_t empty_rows) {
    if (dialect_.comments > 0)
      dialect_.notes.push_back(counted(dialect_.comments, "comment line") + " left out");
    if (repeated_headers_ > 0)
      dialect_.notes.push_back(counted(repeated_headers_, "repetition") + " of the header left out");
    if (empty_rows > 0)
      dialect_.notes.push_back(counted(empty_rows, "row") + " of delimiters alone at the end left out");
  }

  void note_numbers() {
    ColumnNotes notes;
    bool comma = false;
    for (const CsvColumnReader& column : columns_) {
      if (column.kind() != CsvColumn::number) continue;
      for (const auto& [text, count] : column.marks())
        notes.add(column.name(), fmt::format("of {} read as missing", quote_for_message(text)), count,
                  "cell");
      const NumberEvidence& evidence = column.evidence();
      const NumberFormat format = column.format().value_or(NumberFormat{cells_.decimal, 0});
      comma = comma || (evidence.marked && format.decimal == ',');
      if (!column.unit().empty())
        notes.add(column.name(), fmt::format("the unit {} is left out", column.unit()));
      if (evidence.flags > 0)
        notes.add(
            column.name(),
            fmt::format("with a flag behind, such as {}, read without it", quote_for_message(evidence.flag)),
            evidence.flags, "number");
      if (!column.format()) continue;
      if (format.thousands != 0)
        notes.add(column.name(), fmt::format("{} groups thousands", name_of_mark(format.thousands)));
      if (evidence.marked && format.decimal != table_decimal_)
        notes.add(column.name(), fmt::format("{} is the decimal mark, unlike in the other columns",
                                             name_of_mark(format.decimal)));
      if (evidence.percent > 0)
        notes.add(column.name(), "percent signs are left out, the values are in percent");
      if (!evidence.currency.empty())
        notes.add(column.name(), fmt::format("{} is left out", evidence.currency));
      if (evidence.magnitude > 0)
        notes.add(
            column.name(),
            "K, M and B are read as thousands, millions and billions; data.magnitudes = false reads them as "
            "units");
      if (evidence.accounting > 0)
        notes.add(column.name(), "in parentheses read as negative", evidence.accounting, "number");
      if (evidence.trailing_minus > 0)
        notes.add(column.name(), "with a minus behind read as negative", evidence.trailing_minus, "number");
      if (evidence.unicode_minus > 0)
        notes.add(column.name(), "the minus sign or dash (\u2212) is read as minus");
    }
    if (comma && table_decimal_ == ',') dialect_.notes.push_back("the comma is the decimal mark");
    notes.append_to(dialect_.notes);
  }

  CsvTable table(const std::vector<bool>& nameless) {
    CsvTable table;
    table.rows = rows_;
    table.had_header = dialect_.header;
    table.suspect_row = dialect_.suspect_row;
    table.delimiter = dialect_.delimiter;
    table.decimal = table_decimal_;
    table.decimal_proven = decimal_proven_;
    table.left_out = std::move(dialect_.left_out);
    table.source = source_;
    table.columns.reserve(columns_.size());
    // Rows that end in delimiters give empty columns without a name.
    int64_t empty = 0;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (nameless[c] && columns_[c].all_missing() && columns_.size() > 1) {
        ++empty;
        continue;
      }
      if (nameless[c] && c > 0)
        dialect_.notes.push_back(
            fmt::format("column {} has no name, it is called '{}'", c + 1, columns_[c].name()));
      table.columns.push_back(columns_[c].take());
    }
    if (empty > 0) dialect_.notes.push_back(counted(empty, "empty column") + " without a name left out");
    require(!table.columns.empty(), ErrorKind::data, "{}: all columns are empty", source_);
    if (!options_.plain_numbers) table.notes = std::move(dialect_.notes);
    return table;
  }

  std::string_view text_;
  const std::string& source_;
  const CsvOptions& options_;
  CsvDialect dialect_;
  CsvCells cells_;
  char table_decimal_ = dialect_.decimal;
  bool decimal_proven_ = false;
  std::vector<CsvColumnReader> columns_;
  int64_t rows_ = 0, repeated_headers_ = 0;
};

}  // namespace

const CsvColumn* CsvTable::find(std::string_view name) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const CsvColumn& c) { return c.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

CsvTable parse_csv(std::span<const std::byte> bytes, const std::string& source, const CsvOptions& options) {
  const TextInput input(bytes, source);
  if (!options.plain_numbers) refuse_other_text(input.text(), source);
  return TableReader(input.text(), source, options).read();
}

CsvHeader guess_csv_header(std::span<const std::byte> bytes, const std::string& source,
                           const CsvOptions& options) {
  const CsvDialect dialect = guess_dialect(TextInput(bytes, source).text(), source, options);
  if (dialect.delimiter == ' ') return {dialect.header, ""};  // numeric text
  return {dialect.header, dialect.suspect_row};
}

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
  const MappedFile file(path);
  return parse_csv(file.bytes(), path, options);
}

}  // namespace modewise::io
