#pragma once
// Texts, pairs of them and what is said of each, as the rows of one file: GLUE's TSV, a table or JSON lines
// of one's own.

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
  io::TextCells first, second;  // second: of pairs, else empty
  io::TextCells labels;         // "" where a row has none; empty where no row has
  std::vector<uint32_t> lines;  // of each row in the file, from 1
  io::LeftOutRows left_out;

  size_t size() const { return lines.size(); }
  bool labelled() const { return !labels.empty(); }
  bool pairs() const { return !second.empty(); }
  /// "dev.tsv:17" for an error message.
  std::string place(size_t row) const;
};

/// A file of GLUE; `test`: one that has a header and may lack labels. Data errors name file, line and rule.
TextRows read_glue_rows(const std::string& path, const GlueLayout& layout, bool test, bool allow_broken);

/// A .jsonl, .csv or .tsv with the columns that `config` names, or a .txt, a text a line. Without the label's
/// column there are no labels.
TextRows read_own_rows(const std::string& path, const TextDataConfig& config);
/// The endings of such files, with the dot.
const std::vector<std::string>& own_endings();

}  // namespace modewise::data
