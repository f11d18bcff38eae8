#pragma once
// Labelled series as files have them: cases of one or more dimensions, equally long or not.

#include <cstdint>
#include <string>
#include <vector>

namespace modewise::io {

struct LabelledSeriesFile {
  std::string name;                  // @problemName, @relation
  int64_t dimensions = 0;            // V, the same for all cases
  std::vector<std::string> classes;  // as declared; empty: the cases have no labels
  std::vector<float> values;         // case after case, each [V, T_i]; NaN: missing
  std::vector<int32_t> lengths;      // T_i
  std::vector<int32_t> labels;       // of each case, into `classes`; empty without
  int64_t missing = 0;               // values that are '?'
  std::vector<std::string> notes;    // header lines that mean nothing here

  int64_t samples() const { return static_cast<int64_t>(lengths.size()); }
};

}  // namespace modewise::io
