#pragma once
// Rows of a text file: texts or pairs of texts with labels, from GLUE's TSV, a table or JSON lines.

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/data/text/config.h"
#include "modewise/data/text/glue.h"
#include "modewise/io/tables/text_cells.h"
#include "modewise/io/tables/text_table.h"

namespace modewise::data {

struct TextRows {
  std::string source;
  io::TextCells first, second;       // second: empty for single texts
  io::TextCells labels;              // "": row without label; empty: file without labels
  std::vector<uint32_t> lines;       // line of each row, from 1
  std::vector<std::string> columns;  // names of all columns, or fields of the first object; empty: text lines
  io::LeftOutRows left_out;

  size_t size() const { return lines.size(); }
  bool labelled() const { return !labels.empty(); }
  bool pairs() const { return !second.empty(); }
  /// "dev.tsv:17" for an error message.
  std::string place(size_t row) const;
  /// Throws a data error: there is no label column; it names those that there are, and the options.
  [[noreturn]] void refuse_without_labels(const TextDataConfig& config) const;
};

/// Reads a GLUE file; `test`: with a header and perhaps without labels. Data errors name file, line and rule.
TextRows read_glue_rows(const std::string& path, const GlueLayout& layout, bool test, bool allow_broken);

/// Reads JSON lines (.jsonl, .ndjson or .json) or a .csv or .tsv file with the columns of `config`, or a .txt
/// file with one text per line; "-": such lines on standard input. Without the label column there are no
/// labels.
TextRows read_own_rows(const std::string& path, const TextDataConfig& config);
/// Whether read_own_rows reads one text per line of `path`.
bool is_text_lines(const std::string& path);
/// Extensions of such files, with the dot.
const std::vector<std::string>& own_endings();

}  // namespace modewise::data
