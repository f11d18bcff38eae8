#include "modewise/io/numeric_text.h"

#include <algorithm>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/tables/written_number.h"
#include "modewise/io/text_input.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

bool is_missing(std::string_view cell) {
  static constexpr std::string_view kMissingTexts[] = {"", "nan", "NaN", "NAN", "NA", "-nan", "null"};
  return std::find(std::begin(kMissingTexts), std::end(kMissingTexts), cell) != std::end(kMissingTexts);
}

// The separator of the first row; ' ' means any run of spaces and tabs.
char separator_of(std::string_view text) {
  const size_t begin = text.find_first_not_of("\r\n");
  const std::string_view line = text.substr(begin, text.find_first_of("\r\n", begin) - begin);
  for (const char separator : {';', ','}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  // Adjacent tabs mean missing cells; spaces only align columns.
  return line.find('\t') != std::string_view::npos && line.find(' ') == std::string_view::npos ? '\t' : ' ';
}

class MatrixReader {
 public:
  MatrixReader(std::string_view text, const std::string& source)
      : text_(text), source_(source), separator_(separator_of(text)), scanner_(text, separator_, source) {}

  NumericText read() {
    reserve();
    while (true) {
      cells_ = 0;
      const bool more = scanner_.row([&](size_t, std::string_view piece) { add_piece(piece); });
      if (!more) break;
      if (cells_ > 0) end_row();
    }
    require(matrix_.rows > 0, ErrorKind::data, "{}: the file holds no numbers", source_);
    return std::move(matrix_);
  }

 private:
  // Reserves as if every line were like the first; a number and its separator take at least two bytes.
  void reserve() {
    CsvScanner first_row = scanner_;
    first_row.row([](size_t, std::string_view) {});
    const size_t cells = count_filled_lines(text_) * first_row.cells();
    matrix_.values.reserve(std::min(cells, text_.size() / 2 + 1));
  }

  // Adds a piece of a row between two separators; aligned columns may mix spaces and tabs.
  void add_piece(std::string_view piece) {
    piece = strip_spaces(piece);
    if (separator_ != ' ') return add(piece);
    while (!piece.empty()) {
      const size_t tab = std::min(piece.find('\t'), piece.size());
      add(piece.substr(0, tab));
      piece = strip_spaces(piece.substr(tab));
    }
  }

  void add(std::string_view cell) {
    ++cells_;
    double value;
    if (!parse_number(cell, '.', value)) {
      if (!is_missing(cell)) {
        fail(ErrorKind::data, "{}:{}: cell {} is {}, which is not a finite number{}", source_,
             scanner_.line(), cells_, quote_for_message(cell),
             matrix_.rows == 0 ? "; name a table with a header .csv"
             : is_missing_mark(cell) || read_written_number(cell).formats != 0
                 ? "; a file named .csv may hold such cells"
                 : "");
      }
      value = std::numeric_limits<double>::quiet_NaN();
    }
    matrix_.values.push_back(value);
  }

  void end_row() {
    if (matrix_.rows == 0) matrix_.columns = cells_;
    if (cells_ != matrix_.columns) {
      fail(ErrorKind::data, "{}:{}: expected {} numbers as in the first row, got {}", source_,
           scanner_.line(), matrix_.columns, cells_);
    }
    ++matrix_.rows;
  }

  std::string_view text_;
  const std::string& source_;
  char separator_;
  CsvScanner scanner_;
  NumericText matrix_;
  int64_t cells_ = 0;
};

}  // namespace

NumericText parse_numeric_text(std::span<const std::byte> bytes, const std::string& source) {
  return MatrixReader(TextInput(bytes, source).text(), source).read();
}

NumericText read_numeric_text(const std::string& path) {
  const MappedFile file(path);
  return parse_numeric_text(file.bytes(), path);
}

}  // namespace modewise::io
