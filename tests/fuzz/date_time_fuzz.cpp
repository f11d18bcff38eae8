#include "modewise/io/tables/date_column.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(date_time) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  // A parsed date must format to a text that parses to the same date.
  if (const auto date = read_date_time(text)) {
    const int64_t seconds = to_seconds(date->time);
    const std::string written = format_date_time(seconds, date->style);
    const auto again = read_date_time(written);
    expect(again && to_seconds(again->time) == seconds);
    expect(to_civil(seconds) == date->time);
    expect(parse_date_time(written) == parse_date_time(text));
  }
  // The lines as a column.
  DateColumn column;
  int64_t rows = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    rows += column.add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  expect(column.rows() == rows);
  if (column.decide()) column.style().text();
  return 0;
}
