#pragma once
// Invariants of every series classification file that a reader accepts.

#include "modewise/io/tables/series_file.h"
#include "tests/fuzz/fuzz.h"

namespace modewise::io {

inline void expect_whole(const SeriesFile& file) {
  int64_t steps = 0;
  for (const int32_t length : file.lengths) {
    expect(length > 0);
    steps += length;
  }
  expect(file.samples() > 0 && file.dimensions > 0);
  expect(file.values.size() == static_cast<size_t>(steps * file.dimensions));
  expect(file.labels.size() == (file.classes.empty() ? 0 : file.lengths.size()));
  for (const int32_t label : file.labels)
    expect(label >= -1 && label < static_cast<int32_t>(file.classes.size()));
}

}  // namespace modewise::io
