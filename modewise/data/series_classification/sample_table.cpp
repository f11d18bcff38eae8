// Samples as rows of a table: a class and the values of one variable (the UCR archive's .tsv and .txt, CSV).

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/core/name_index.h"
#include "modewise/data/series_classification/sources.h"
#include "modewise/io/number_text.h"
#include "modewise/io/numeric_text.h"
#include "modewise/io/tables/arff.h"
#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/ts_file.h"

namespace modewise::data {
namespace {

/// Rows of equally many values, NaN: missing; one class per row, or none.
struct SampleTable {
  int64_t rows = 0, width = 0;
  std::vector<float> values;
  std::vector<std::string> labels;
};

/// Class of a number: 1.0000000e+00 is class 1.
std::string class_text(double number) {
  return number == std::floor(number) ? fmt::format("{:.0f}", number) : fmt::format("{}", number);
}

float as_float(double value, const std::string& path, int64_t number) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  require(std::isnan(value) || std::abs(value) <= kLargest, ErrorKind::data,
          "{}: sample {} contains {}, which exceeds the range of float32 (±3.4e38)", path, number, value);
  return static_cast<float>(value);
}

SampleTable numbers_of(const std::string& path) {
  const io::NumericText text = io::read_numeric_text(path);
  require(text.columns >= 2, ErrorKind::data, "{}: expected a class and values in each row, found one number",
          path);
  SampleTable table{text.rows, text.columns - 1, {}, {}};
  for (int64_t row = 0; row < text.rows; ++row) {
    const double* cells = text.values.data() + row * text.columns;
    require(!std::isnan(cells[0]), ErrorKind::data, "{}: sample {} has no class", path, row + 1);
    table.labels.push_back(class_text(cells[0]));
    for (int64_t i = 1; i < text.columns; ++i) table.values.push_back(as_float(cells[i], path, row + 1));
  }
  return table;
}

bool names_a_class(std::string name) {
  static constexpr std::array<std::string_view, 4> names = {"label", "class", "target", "y"};
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The class column: the one with such a name if there is a header, else the first.
const io::CsvColumn* class_column(const io::CsvTable& table) {
  if (!table.had_header) return &table.columns[0];
  for (const io::CsvColumn& column : table.columns)
    if (names_a_class(column.name)) return &column;
  return nullptr;
}

std::vector<std::string> classes_in(const io::CsvColumn& column, const std::string& path) {
  require(column.kind != io::CsvColumn::date, ErrorKind::data,
          "{}: column '{}' must hold classes, it holds dates", path, column.name);
  std::vector<std::string> out;
  if (column.kind == io::CsvColumn::text)
    for (const auto text : column.texts) out.emplace_back(io::strip_spaces(text));
  else
    for (const double x : column.numbers) out.push_back(std::isnan(x) ? "" : class_text(x));
  for (size_t row = 0; row < out.size(); ++row)
    require(!out[row].empty(), ErrorKind::data, "{}: sample {} has no class", path, row + 1);
  return out;
}

SampleTable columns_of(const std::string& path) {
  const io::CsvTable csv = io::read_csv(path, {.plain_numbers = true});
  const io::CsvColumn* classes = class_column(csv);
  SampleTable table;
  table.rows = csv.rows;
  if (classes != nullptr) table.labels = classes_in(*classes, path);
  std::vector<const std::vector<double>*> columns;
  for (const io::CsvColumn& column : csv.columns) {
    if (&column == classes) continue;
    require(column.kind == io::CsvColumn::number, ErrorKind::data,
            "{}: column '{}' must hold numbers, it holds {}; in a table with a header the class column is "
            "'label', 'class', 'target' or 'y'",
            path, column.name, column.kind == io::CsvColumn::date ? "dates" : "text");
    columns.push_back(&column.numbers);
  }
  require(!columns.empty(), ErrorKind::data, "{}: expected a class and values in each row, found one cell",
          path);
  table.width = std::ssize(columns);
  for (int64_t row = 0; row < csv.rows; ++row)
    for (const auto* column : columns)
      table.values.push_back(as_float((*column)[static_cast<size_t>(row)], path, row + 1));
  return table;
}

/// Class names, sorted as numbers if all are numbers, else as text.
std::vector<std::string> ordered_classes(std::vector<std::string> classes) {
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  const auto number = [](const std::string& text) {
    double value = 0;
    return std::pair(io::parse_number(text, '.', value), value);
  };
  if (std::all_of(classes.begin(), classes.end(), [&](const auto& text) { return number(text).first; }))
    std::sort(classes.begin(), classes.end(),
              [&](const auto& a, const auto& b) { return number(a).second < number(b).second; });
  return classes;
}

}  // namespace

RawSamples read_sample_table(const std::string& path) {
  const std::filesystem::path file(path);
  const SampleTable table = file.extension() == ".txt" ? numbers_of(path) : columns_of(path);
  RawSamples out;
  out.variables = 1;
  out.source = path;
  out.name = file.stem().string();
  out.classes = ordered_classes(table.labels);
  const NameIndex place(out.classes);
  for (int64_t row = 0; row < table.rows; ++row) {
    const float* values = table.values.data() + row * table.width;
    int64_t steps = table.width;
    while (steps > 0 && std::isnan(values[steps - 1])) --steps;
    require(steps > 0, ErrorKind::data, "{}: sample {} has no values", path, row + 1);
    out.missing += std::count_if(values, values + steps, [](float x) { return std::isnan(x); });
    at::Tensor series = at::empty({1, steps}, at::kFloat);
    std::copy_n(values, steps, series.mutable_data_ptr<float>());
    out.samples.push_back(std::move(series));
    out.labels.push_back(table.labels.empty()
                             ? -1
                             : static_cast<int64_t>(*place.find(table.labels[static_cast<size_t>(row)])));
  }
  return out;
}

RawSamples read_samples(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension();
  if (ending == ".ts") return samples_of(io::read_ts(path), path);
  if (ending == ".arff") return samples_of(io::read_arff(path), path);
  return read_sample_table(path);
}

}  // namespace modewise::data
