#pragma once
// Text cells of CSV files.

#include <string>
#include <string_view>

namespace modewise::report {

/// The program that a CSV file is written for. A spreadsheet runs a text that begins with = + - @, a tab or a
/// line break as a formula; `spreadsheet` puts an apostrophe before such texts, which makes them text there.
enum class CsvReader { program, spreadsheet };

/// `text` as a cell: escaped (core/escaped_text.h; line feeds and tabs stay), in quotes where RFC 4180 wants
/// them. A text that is a number, such as -1, gets no apostrophe.
std::string csv_cell(std::string_view text, CsvReader reader = CsvReader::program);

}  // namespace modewise::report
