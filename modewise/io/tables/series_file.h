#pragma once
// Content of a series classification file (.ts, ARFF): samples of one or more dimensions, of equal or unequal
// length.

#include <cstdint>
#include <string>
#include <vector>

namespace modewise::io {

struct SeriesFile {
  std::string name;                  // @problemName, @relation
  int64_t dimensions = 0;            // V, the same for all samples
  std::vector<std::string> classes;  // as declared; empty: no labels
  std::vector<float> values;         // the samples, concatenated, each [V, T_i]; NaN: missing
  std::vector<int32_t> lengths;      // T_i
  std::vector<int32_t> labels;       // per sample, index into `classes`, −1: unknown; empty without classes
  int64_t unlabelled_line = 0;       // of the first sample of unknown class ('?'); 0: none
  int64_t missing = 0;               // values that are '?'
  std::vector<std::string> steps;    // names of the steps (ARFF); empty: none
  std::vector<std::string> notes;    // ignored header lines, contradictions, and what is repaired

  int64_t samples() const { return static_cast<int64_t>(lengths.size()); }
};

}  // namespace modewise::io
