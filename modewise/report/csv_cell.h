#pragma once
// Text cells of CSV files.

#include <string>
#include <string_view>

namespace modewise::report {

/// Target of a CSV file. Spreadsheets execute text that begins with = + - @, a tab or a line break as a
/// formula (CSV injection); `spreadsheet` puts an apostrophe before it.
enum class CsvReader { program, spreadsheet };

/// `text` as a cell: escaped (core/escaped_text.h; line feeds and tabs stay), quoted as RFC 4180 requires.
/// Numbers such as -1 get no apostrophe.
std::string csv_cell(std::string_view text, CsvReader reader = CsvReader::program);

}  // namespace modewise::report
