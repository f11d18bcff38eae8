#include "modewise/tasks/forecasting/panel_changes.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/core/output_file.h"
#include "modewise/io/arrays/npz.h"

namespace modewise::tasks {
namespace {

int64_t id_hash(const std::string& id) {
  return std::bit_cast<int64_t>(content_number(std::as_bytes(std::span(id))));
}

/// Hash of the first time and the first `rows` rows of a series: values and future covariates.
int64_t rows_hash(const data::Panel& panel, int64_t s, int64_t rows) {
  std::vector<double> cells = {static_cast<double>(panel.time_at(s, 0))};
  const auto add = [&](const at::Tensor& values, const at::Tensor& observed, int64_t first) {
    const int64_t width = values.size(1);
    for (int64_t cell = first * width; cell < (first + rows) * width; ++cell)
      cells.push_back(observed.defined() && !observed.const_data_ptr<bool>()[cell]
                          ? std::numeric_limits<double>::quiet_NaN()
                          : values.const_data_ptr<double>()[cell]);
  };
  add(panel.values, panel.observed, panel.offsets[static_cast<size_t>(s)]);
  const data::PanelKnown& known = panel.known;
  if (!known.names.empty()) add(known.values, known.observed, known.offsets[static_cast<size_t>(s)]);
  return std::bit_cast<int64_t>(content_number(std::as_bytes(std::span(cells))));
}

std::vector<int64_t> integers(const std::map<std::string, io::Array>& arrays, const std::string& name,
                              const std::string& file) {
  const auto found = arrays.find(name);
  require(found != arrays.end() && found->second.dtype == io::Array::i64, ErrorKind::data,
          "{}: expected the array '{}' of integers", file, name);
  std::vector<int64_t> values(static_cast<size_t>(found->second.size()));
  std::memcpy(values.data(), found->second.bytes.data(), values.size() * sizeof(int64_t));
  return values;
}

}  // namespace

void write_trained_series(const std::filesystem::path& file, const data::Panel& panel) {
  std::vector<int64_t> ids, rows, hashes, order(static_cast<size_t>(panel.series()));
  for (int64_t s = 0; s < panel.series(); ++s) {
    ids.push_back(id_hash(panel.name(s)));
    rows.push_back(panel.rows(s));
    hashes.push_back(rows_hash(panel, s, panel.rows(s)));
  }
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return ids[static_cast<size_t>(a)] < ids[static_cast<size_t>(b)]; });
  std::map<std::string, io::Array> arrays;
  for (const auto& [name, values] : {std::pair{"ids", &ids}, {"rows", &rows}, {"hashes", &hashes}}) {
    std::vector<int64_t> sorted;
    for (const int64_t s : order) sorted.push_back((*values)[static_cast<size_t>(s)]);
    arrays[name] = io::make_array({std::ssize(sorted)}, std::span<const int64_t>(sorted));
  }
  prepare_output(file, true);
  write_file_atomically(file, io::format_npz(arrays));
}

std::optional<PanelChanges> panel_changes(const std::filesystem::path& file, const data::Panel& panel) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  const std::map<std::string, io::Array> arrays = io::read_npz(file.string());
  const std::vector<int64_t> ids = integers(arrays, "ids", file.string()),
                             rows = integers(arrays, "rows", file.string()),
                             hashes = integers(arrays, "hashes", file.string());
  require(rows.size() == ids.size() && hashes.size() == ids.size(), ErrorKind::data,
          "{}: expected arrays of one length", file.string());
  PanelChanges changes;
  changes.trained = changes.gone = std::ssize(ids);
  for (int64_t s = 0; s < panel.series(); ++s) {
    const int64_t id = id_hash(panel.name(s));
    const auto at = std::lower_bound(ids.begin(), ids.end(), id);
    if (at == ids.end() || *at != id) {
      changes.added.push_back(panel.name(s));
      continue;
    }
    const auto trained = static_cast<size_t>(at - ids.begin());
    --changes.gone;
    changes.longer += panel.rows(s) > rows[trained];
    if (panel.rows(s) < rows[trained] || rows_hash(panel, s, rows[trained]) != hashes[trained])
      changes.changed.push_back(panel.name(s));
  }
  return changes;
}

void warn_of_changed_rows(const std::string& source, const std::filesystem::path& run,
                          const std::string& change) {
  spdlog::warn("{} has changed since the training of {}: {}", source, run.string(), change);
}

void warn_of_other_test_rows(const std::string& begins) {
  spdlog::warn("{}; the backtest uses the test rows of now", begins);
}

}  // namespace modewise::tasks
