#pragma once
// Helpers for tests of data: scratch files, small series, real data.

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "modewise/data/forecasting/series.h"
#include "modewise/data/forecasting/tensor_cells.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"

namespace modewise::data {

/// A series of `shape` [T, N_1…] without dates, filled by `value(cell)`.
inline Series make_series(const std::vector<int64_t>& shape, const std::function<double(int64_t)>& value) {
  Series series;
  series.values = at::empty(shape, at::kDouble);
  for (int64_t i = 0; i < series.values.numel(); ++i) series.values.mutable_data_ptr<double>()[i] = value(i);
  for (size_t mode = 1; mode < shape.size(); ++mode) {
    SeriesMode& added = series.modes.emplace_back();
    added.name = mode + 1 == shape.size() ? "variable" : "site";
    for (int64_t i = 0; i < shape[mode]; ++i)
      added.labels.push_back(added.name.substr(0, 1) + std::to_string(i));
  }
  series.time.length = shape[0];
  series.source = "test";
  return series;
}

inline double value_at(const Series& series, int64_t cell) {
  return TensorCells(series.values)[cell];
}
inline bool seen_at(const Series& series, int64_t cell) {
  return !series.observed.defined() || series.observed.const_data_ptr<bool>()[cell];
}

/// Path of the real data (MODEWISE_DATA, or ../shared/data next to the repository); "": missing.
inline std::string real_data(const std::string& name) {
  const char* folder = std::getenv("MODEWISE_DATA");
  const std::filesystem::path root =
      folder != nullptr ? std::filesystem::path(folder)
                        : std::filesystem::path(MODEWISE_SOURCE_DIR).parent_path() / "shared" / "data";
  const std::filesystem::path path = root / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

#define SKIP_WITHOUT(path, name) \
  if ((path).empty())            \
  GTEST_SKIP() << "real data " << (name) << " is not here (set MODEWISE_DATA, or put it at ../shared/data)"

}  // namespace modewise::data
