#include "modewise/io/tables/text_table.h"
#include "tests/fuzz/fuzz.h"

using namespace modewise::io;

FUZZ_TARGET(text_table) {
  for (const bool header : {true, false})
    for (const bool quotes : {true, false})
      survive([&] {
        TextTableOptions options;
        options.header = header;
        options.quotes = quotes;
        options.leave_out_broken = size % 2 == 0;
        options.longest_cell = 64;
        const auto last = [](const std::vector<std::string>& names) {
          return std::vector<size_t>{names.size() - 1, 0};
        };
        const TextTable table = parse_text_table(input_bytes(data, size), "file", options, last);
        expect(table.rows() > 0 && table.columns.size() == 2 && !table.names.empty());
        for (const TextCells& column : table.columns) {
          expect(column.size() == table.rows());
          for (const std::string_view cell : column) expect(cell.size() <= options.longest_cell);
        }
        for (size_t i = 1; i < table.rows(); ++i) expect(table.lines[i] > table.lines[i - 1]);
      });
  return 0;
}
