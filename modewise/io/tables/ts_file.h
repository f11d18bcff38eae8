#pragma once
// The .ts files of the UEA and UCR archives: labelled series of one or more dimensions, a case a line,
// dimensions apart by ':' and values by ',', the class last.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace modewise::io {

struct TsFile {
  std::string name;                  // @problemName
  int64_t dimensions = 0;            // V, the same for all cases
  std::vector<std::string> classes;  // as declared; empty: the cases have no labels
  std::vector<float> values;         // case after case, each [V, T_i]; NaN: missing
  std::vector<int32_t> lengths;      // T_i
  std::vector<int32_t> labels;       // of each case, into `classes`; empty without
  int64_t missing = 0;               // values that are '?'
  std::vector<std::string> notes;    // header lines that mean nothing here

  int64_t cases() const { return static_cast<int64_t>(lengths.size()); }
};

/// Throws data errors that name file, line and the rule: a header line that says something twice, wrongly, or
/// another thing than the cases do (dimensions, equal lengths, missing values, classes); time stamps; a case
/// whose dimensions differ in length.
TsFile parse_ts(std::span<const std::byte> bytes, const std::string& source);
TsFile read_ts(const std::string& path);

}  // namespace modewise::io
