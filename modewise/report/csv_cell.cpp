#include "modewise/report/csv_cell.h"

#include <charconv>

#include "modewise/core/escaped_text.h"

namespace modewise::report {
namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool begins_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r\n").find(text.front()) != std::string_view::npos &&
         !is_number(text);
}

}  // namespace

std::string csv_cell(std::string_view text, CsvReader reader) {
  const bool shielded = reader == CsvReader::spreadsheet && begins_formula(text);
  const std::string plain = (shielded ? "'" : "") + escape_text(text, LineBreaks::kept);
  if (plain.find_first_of(",\"\n") == std::string::npos) return plain;
  std::string quoted = "\"";
  for (const char c : plain) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace modewise::report
