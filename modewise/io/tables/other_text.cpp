#include "modewise/io/tables/other_text.h"

#include <algorithm>

#include "modewise/core/error.h"

namespace modewise::io {
namespace {

/// Texts of other formats, which begin so.
struct OtherText {
  std::string_view begin, name, remedy;
};
constexpr std::string_view kReadJson = "write it as CSV, in Python pandas.read_json(file).to_csv(…)";
constexpr std::string_view kReadJsonLines =
    "write it as CSV, in Python pandas.read_json(file, lines=True).to_csv(…)";
constexpr std::string_view kRunSql = "run it in a database and export the table as CSV";
constexpr std::string_view kExport = "export it as CSV";
constexpr OtherText kOtherTexts[] = {
    {"CREATE TABLE ", "SQL", kRunSql},
    {"INSERT INTO ", "SQL", kRunSql},
    {"DROP TABLE ", "SQL", kRunSql},
    {"BEGIN TRANSACTION;", "SQL", kRunSql},
    {"PRAGMA foreign_keys", "SQL", kRunSql},
    {"-- MySQL dump", "SQL", kRunSql},
    {"-- MariaDB dump", "SQL", kRunSql},
    {"--\n-- PostgreSQL database dump", "SQL", kRunSql},
    {"\\begin{", "LaTeX", kExport},
    {"{|", "MediaWiki", kExport},
    {"\u250c", "a table drawn with lines", kExport},
    {"\u250f", "a table drawn with lines", kExport},
    {"\u2552", "a table drawn with lines", kExport},
    {"\u2554", "a table drawn with lines", kExport},
    {"\u256d", "a table drawn with lines", kExport},
    {"shape: (", "a table drawn with lines", kExport},
};

constexpr std::string_view kJsonBlanks = " \t\r\n";

/// Whether a text without blanks in front begins with an array of arrays, objects or strings, or with an
/// object, in JSON.
bool is_json(std::string_view text) {
  const size_t inner = text.find_first_not_of(kJsonBlanks, 1);
  if (inner == std::string_view::npos) return false;
  const char c = text[inner];
  return text[0] == '[' ? c == '[' || c == '{' || c == '"' : text[0] == '{' && c == '"';
}

/// Whether such JSON has one value per line: the first line ends as a value, and the next begins as one.
bool is_json_lines(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const char last = line[line.find_last_not_of(kJsonBlanks)];
  const size_t next = text.find_first_not_of(kJsonBlanks, line.size());
  return (last == ']' || last == '}') && next != std::string_view::npos &&
         (text[next] == '[' || text[next] == '{');
}

}  // namespace

void refuse_other_text(std::string_view text, const std::string& source) {
  const auto refuse = [&](std::string_view name, std::string_view remedy) {
    fail(ErrorKind::data, "{}: expected a table, got {}; {}", source, name, remedy);
  };
  const std::string_view value = text.substr(std::min(text.find_first_not_of(kJsonBlanks), text.size()));
  if (is_json(value)) {
    if (is_json_lines(value)) refuse("JSON lines", kReadJsonLines);
    refuse("JSON", kReadJson);
  }
  for (const OtherText& other : kOtherTexts)
    if (text.starts_with(other.begin)) refuse(other.name, other.remedy);
}

}  // namespace modewise::io
