#include <ATen/ops/empty.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/array_tensor.h"
#include "modewise/data/forecasting/sources.h"
#include "modewise/data/forecasting/tables/table_rows.h"
#include "modewise/io/arrays/npy.h"
#include "modewise/io/arrays/npz.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/numeric_text.h"
#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/csv_scanner.h"

namespace modewise::data {
namespace {

/// Maps (row, series) to the element of an array of `shape` with time on `axis`.
Place place_of(std::vector<int64_t> shape, int64_t axis, std::string source) {
  return [shape = std::move(shape), axis, source = std::move(source)](int64_t row, int64_t index) {
    std::vector<int64_t> element(shape.size());
    for (size_t at = shape.size(); at-- > 0;) {
      if (static_cast<int64_t>(at) == axis) continue;
      element[at] = index % shape[at];
      index /= shape[at];
    }
    element[static_cast<size_t>(axis)] = row;
    return fmt::format("{}: element [{}]", source, fmt::join(element, ", "));
  };
}

/// Maps (row, series) to line and cell of a numeric text file; blank lines are not rows.
Place place_of_text(std::string path) {
  return [path = std::move(path)](int64_t row, int64_t cell) {
    const io::MappedFile file(path);
    io::CsvScanner scanner({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, '\0',
                           path);
    bool filled = false;
    for (int64_t at = -1; at < row; at += filled)
      if (!scanner.row([&](size_t, std::string_view line) { filled = !io::strip_spaces(line).empty(); }))
        break;
    return fmt::format("{}:{}: cell {}", path, scanner.line(), cell + 1);
  };
}

/// Warns if the first row of a headerless text table may hold column names that are numbers.
void warn_of_header(const ForecastDataConfig& config, Series& series) {
  if (config.header != "auto" || config.format != "auto") return;
  const io::MappedFile file(config.path);
  const io::CsvHeader guess = io::guess_csv_header(file.bytes(), config.path);
  if (!guess.suspect_row.empty()) series.warnings.push_back(header_warning(false, guess.suspect_row));
}

Series from_array(io::Array array, const ForecastDataConfig& config, const std::string& source) {
  const auto order = static_cast<int64_t>(array.shape.size());
  require(order >= 1 && array.size() > 0, ErrorKind::data,
          "{}: expected an array with a time axis, got shape [{}]", source, fmt::join(array.shape, ", "));
  const int64_t axis = config.time_axis < 0 ? config.time_axis + order : config.time_axis;
  require(axis >= 0 && axis < order, ErrorKind::config, "data.time_axis: {} has {} axes, got {}", source,
          order, config.time_axis);
  Series series;
  series.place = place_of(array.shape, axis, source);
  const bool is_exact = array.dtype == io::Array::f32 || io::item_size(array.dtype) <= 2;  // in float32
  const at::Tensor stored = owning_tensor(std::move(array));
  series.values = stored.movedim(axis, 0).to(is_exact ? at::kFloat : at::kDouble).contiguous();
  if (order == 1) series.values = series.values.unsqueeze(1);
  for (int64_t mode = 1; mode < series.values.dim(); ++mode)
    series.modes.push_back({order <= 2 ? "variable" : fmt::format("mode{}", mode),
                            numbered_labels(series.values.size(mode), 0), false});
  return series;
}

}  // namespace

Series read_text_series(const ForecastDataConfig& config) {
  Series series;
  warn_of_header(config, series);
  io::NumericText text = io::read_numeric_text(config.path);
  series.values = at::empty({text.rows, text.columns}, type_of({{&text.values}}));
  const TensorCells values(series.values);
  for (int64_t cell = 0; cell < series.values.numel(); ++cell)
    values.set(cell, text.values[static_cast<size_t>(cell)]);
  series.modes = {{"variable", numbered_labels(text.columns, 1), false}};
  series.place = place_of_text(config.path);
  return series;
}

Series read_npy_series(const ForecastDataConfig& config) {
  return from_array(io::read_npy(config.path), config, config.path);
}

Series read_npz_series(const ForecastDataConfig& config) {
  std::map<std::string, io::Array> arrays = io::read_npz(config.path);
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  std::string name = config.array;
  if (name.empty()) {
    require(names.size() == 1, ErrorKind::config, "data.array: {} contains {} arrays ({}), name one of them",
            config.path, names.size(), fmt::join(names, ", "));
    name = names[0];
  }
  const auto found = arrays.find(name);
  require(found != arrays.end(), ErrorKind::config, "data.array: {} has no array '{}'{}", config.path, name,
          nearest_name_hint(name, names));
  io::Array array = std::move(found->second);
  arrays.clear();
  return from_array(std::move(array), config, fmt::format("{}[{}]", config.path, name));
}

}  // namespace modewise::data
