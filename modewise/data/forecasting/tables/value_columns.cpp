#include "modewise/data/forecasting/tables/value_columns.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/forecasting/tables/long_table.h"
#include "modewise/data/forecasting/tables/table_lines.h"
#include "modewise/io/ascii.h"
#include "modewise/io/number_text.h"

namespace modewise::data {
namespace {

bool is_empty(const io::CsvColumn& column) {
  switch (column.kind) {
    case io::CsvColumn::number:
      return std::all_of(column.numbers.begin(), column.numbers.end(),
                         [](double x) { return std::isnan(x); });
    case io::CsvColumn::text:
      return std::all_of(column.texts.begin(), column.texts.end(), [](const auto& t) { return t.empty(); });
    case io::CsvColumn::date:
      return false;
  }
  return false;
}

/// Whether all texts of a column are numbers, as those of an id that was read as it is written.
bool holds_numbers(const io::CsvColumn& column) {
  double value = 0;
  return std::all_of(column.texts.begin(), column.texts.end(),
                     [&](std::string_view text) { return io::parse_number(text, '.', value); });
}

/// Whether a column is a row index, such as Beijing's "No": it has such a name, or none, and counts by 1,
/// from 0 or 1 or over many rows. The index of a data frame was left out before (table_time.cpp).
bool counts_rows(const io::CsvColumn& column, size_t place) {
  if (column.kind == io::CsvColumn::text) {  // an id that was read as it is written
    io::CsvColumn numbers;
    numbers.name = column.name;
    for (const std::string_view text : column.texts)
      if (double value = 0; io::parse_number(text, '.', value))
        numbers.numbers.push_back(value);
      else
        return false;
    return counts_rows(numbers, place);
  }
  if (column.kind != io::CsvColumn::number || column.numbers.size() < 2) return false;
  const io::NumberCells& numbers = column.numbers;
  const bool nameless = io::to_lower(column.name).starts_with("unnamed: ") ||
                        column.name == fmt::format("column {}", place + 1);
  if (!nameless && !names_row(column.name)) return false;
  constexpr size_t kSure = 20;  // rows that count from another number than 0 or 1
  if (numbers[0] != 0 && numbers[0] != 1 && numbers.size() < kSure) return false;
  for (size_t row = 1; row < numbers.size(); ++row)
    if (numbers[row] - numbers[row - 1] != 1) return false;
  return true;
}

/// First text of a column with its line, for messages.
std::string first_text(const io::CsvTable& table, const io::CsvColumn& column) {
  for (size_t row = 0; row < column.texts.size(); ++row)
    if (!column.texts[row].empty())
      return fmt::format("'{}' in line {}", column.texts[row], TableLines(table)(static_cast<int64_t>(row)));
  return "nothing";
}

/// Whether a column has one whole number in every row, as that of a file's only station has.
bool is_one_number(const io::CsvColumn& column) {
  const io::NumberCells& numbers = column.numbers;
  return column.kind == io::CsvColumn::number && numbers.size() > 2 && numbers[0] == std::floor(numbers[0]) &&
         std::all_of(numbers.begin(), numbers.end(), [&](double x) { return x == numbers[0]; });
}

/// Whether all texts begin with a decimal number, or a sign and a number: values in several units, for
/// example.
bool holds_numbers_with_words(const io::CsvColumn& column) {
  bool marked = false;
  for (std::string_view text : column.texts) {
    if (text.empty()) continue;
    if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 ||
        (digits < text.size() && (text[digits] == '-' || text[digits] == '/' || text[digits] == ':')))
      return false;
    marked = marked || (digits + 1 < text.size() && (text[digits] == '.' || text[digits] == ',') &&
                        std::isdigit(static_cast<unsigned char>(text[digits + 1])) != 0);
  }
  return marked;
}

}  // namespace

std::vector<size_t> chosen_columns(const std::vector<std::string>& names, const ForecastDataConfig& config,
                                   const std::string& source) {
  const NameIndex places(names);
  const auto position = [&](const std::string& name, const char* option) {
    const auto at = places.find(name);
    if (!at && config.follows)
      fail(ErrorKind::data, "{}: no column '{}', a future covariate of the run{}", source, name,
           nearest_name_hint(name, names));
    if (!at)
      fail(ErrorKind::config, "data.{}: {} has no column '{}'{}", option, source, name,
           nearest_name_hint(name, names));
    return *at;
  };
  std::vector<size_t> chosen;
  std::vector<bool> taken(names.size(), false), dropped(names.size(), false);
  for (const std::string& name : config.columns) {
    const size_t at = position(name, "columns");
    require(!taken[at], ErrorKind::config, "data.columns: duplicate column '{}'", name);
    taken[at] = true;
    chosen.push_back(at);
  }
  if (config.columns.empty()) {
    chosen.resize(names.size());
    std::iota(chosen.begin(), chosen.end(), size_t{0});
  }
  for (const std::string& name : config.drop) dropped[position(name, "drop")] = true;
  std::erase_if(chosen, [&](size_t at) { return dropped[at]; });
  require(!chosen.empty(), ErrorKind::config, "data.drop: no column of {} is left", source);
  return chosen;
}

std::vector<size_t> variable_columns(SeriesTable& read) {
  const io::CsvTable& table = read.table;
  const ForecastDataConfig& config = read.config;
  std::vector<size_t> taken = read.time.taken();
  taken.insert(taken.end(), read.ids.columns.begin(), read.ids.columns.end());
  taken.insert(taken.end(), read.clock_columns.begin(), read.clock_columns.end());
  for (const StaticColumn& column : read.statics)
    taken.push_back(static_cast<size_t>(table.find(column.name) - table.columns.data()));
  std::vector<std::string> names;
  for (const io::CsvColumn& column : table.columns) names.push_back(column.name);
  std::vector<size_t> variables, without_values;
  for (const size_t i : chosen_columns(names, config, table.source)) {
    if (std::find(taken.begin(), taken.end(), i) != taken.end()) continue;
    const io::CsvColumn& column = table.columns[i];
    const bool empty = is_empty(column);
    if (!config.columns.empty()) {  // named columns must be numeric
      require(column.kind == io::CsvColumn::number || empty, ErrorKind::data,
              "{}: column '{}' must hold numbers, it holds {}", table.source, column.name,
              column.kind == io::CsvColumn::date ? std::string("dates")
                                                 : "text (" + first_text(table, column) + ")");
    } else if (column.kind == io::CsvColumn::date) {
      if (names_time(config))
        read.notes.push_back(
            fmt::format("column '{}' holds dates besides the time column and is dropped", column.name));
      else
        read.warnings.push_back(
            fmt::format("columns '{}' and '{}' both hold dates, the first is the time column: "
                        "data.time = {} selects the other",
                        table.columns[taken[0]].name, column.name, column.name));
      continue;
    } else if (table.had_header && table.columns.size() > taken.size() + 1 && counts_rows(column, i)) {
      read.notes.push_back(fmt::format("column '{}' is a row index and is dropped", column.name));
      continue;
    } else if (column.kind == io::CsvColumn::text && !empty) {
      require(
          std::find(config.known.begin(), config.known.end(), column.name) == config.known.end(),
          ErrorKind::config,
          "data.future_covariates: column '{}' of {} must hold numbers, it holds text ({}); data.categories "
          "= {} one-hot encodes it",
          column.name, table.source, first_text(table, column), column.name);
      const bool constant = std::all_of(column.texts.begin(), column.texts.end(),
                                        [&](const auto& t) { return t == column.texts[0]; });
      if (constant) read.constant_texts[column.name] = column.texts[0];
      if (!constant && holds_numbers_with_words(column)) {
        read.warnings.push_back(
            fmt::format("column '{}' holds numbers with other text ({}) and is dropped: only one "
                        "unit for all rows is read, such as kWh",
                        column.name, first_text(table, column)));
        continue;
      }
      if (!constant && usually_names_series(column.name) && !read.is_long() && config.id.empty() &&
          !read.time.columns.empty())
        read.warnings.push_back(
            fmt::format("the rows are read as one series, though column '{}' may name several: data.id = {} "
                        "reads one for each of its texts",
                        column.name, column.name));
      if (!constant && read.is_long() && usually_names_series(column.name) && holds_numbers(column)) {
        std::vector<std::string> id;
        for (const size_t at : read.ids.columns) id.push_back(table.columns[at].name);
        read.notes.push_back(fmt::format(
            "column '{0}' has the name of series ids and is dropped; data.id = {1},{0} makes both the id",
            column.name, fmt::join(id, ",")));
        continue;
      }
      read.notes.push_back(
          fmt::format("column '{}' holds text and is dropped{}", column.name,
                      constant ? "" : fmt::format("; data.categories = {} one-hot encodes it", column.name)));
      continue;
    }
    if (empty && config.columns.empty() && !config.keeps_empty &&
        std::find(config.variables.begin(), config.variables.end(), column.name) == config.variables.end()) {
      without_values.push_back(i);
      continue;
    }
    if (empty) read.notes.push_back(fmt::format("column '{}' has no value in any row", column.name));
    if (config.columns.empty() && table.columns.size() > taken.size() + 1 && is_one_number(column))
      read.notes.push_back(fmt::format(
          "column '{}' has the value {} in every row and is kept as a variable; data.drop = {} leaves it out",
          column.name, column.numbers[0], column.name));
    variables.push_back(i);
  }
  if (variables.empty()) variables.swap(without_values);
  for (const size_t i : without_values)
    read.notes.push_back(
        fmt::format("column '{}' has no value in any row and is dropped", table.columns[i].name));
  if (variables.empty()) {
    const auto text =
        std::find_if(table.columns.begin(), table.columns.end(), [&](const io::CsvColumn& column) {
          return column.kind == io::CsvColumn::text && !is_empty(column) &&
                 column.texts[0].find_first_of("0123456789") != std::string_view::npos;
        });
    fail(ErrorKind::data, "{}: expected at least one column of numbers, got {}{}{}", table.source,
         fmt::join(names, ", "),
         text == table.columns.end()
             ? std::string()
             : fmt::format("; column '{}' holds text, {}", text->name, first_text(table, *text)),
         table.columns.size() == 1
             ? "; data.delimiter sets the mark between cells, data.skip_lines leaves out lines above "
               "the header"
             : "");
  }
  return variables;
}

std::vector<size_t> matched_by_name(std::vector<size_t> columns, SeriesTable& read) {
  const std::vector<std::string>& wanted = read.config.variables;
  if (wanted.empty() || !read.config.columns.empty()) return columns;
  std::vector<std::string> names;
  for (const size_t i : columns) names.push_back(read.table.columns[i].name);
  const NameIndex places(names), of_run(wanted), known(read.config.known);
  std::vector<size_t> matched, targets;
  for (const std::string& name : wanted) {
    const auto place = places.find(name);
    if (!place) return columns;
    matched.push_back(columns[*place]);
    if (!known.contains(name.substr(0, name.find('=')))) targets.push_back(*place);
  }
  std::erase_if(names, [&](const std::string& name) { return of_run.contains(name); });
  if (!names.empty())
    read.warnings.push_back(
        fmt::format("columns that the run does not have are left out: {}", fmt::join(names, ", ")));
  if (!std::ranges::is_sorted(targets))
    read.warnings.push_back("the columns are in another order than in the run, and are matched by name");
  return matched;
}

std::vector<size_t> same_variables(const io::CsvTable& table, const ForecastDataConfig& config,
                                   const Frame& like, const std::string& like_path) {
  std::vector<std::string> header;
  for (const io::CsvColumn& column : table.columns) header.push_back(column.name);
  if (config.columns.empty()) {
    const NameIndex dropped(config.drop);
    const auto comparable = [&](std::vector<std::string> names) {
      std::erase_if(names, [&](const std::string& name) { return dropped.contains(name); });
      return names;
    };
    const std::vector<std::string> wanted = comparable(like.header), have = comparable(header);
    const auto [a, b] = std::mismatch(wanted.begin(), wanted.end(), have.begin(), have.end());
    if (a != wanted.end() || b != have.end()) {
      const auto text = [](auto at, const auto& names) {
        return at == names.end() ? std::string("nothing") : fmt::format("'{}'", *at);
      };
      fail(ErrorKind::data,
           "{} and {} must have the same columns, but column {} is {} in the first and {} in the second",
           like_path, table.source, a - wanted.begin() + 1, text(a, wanted), text(b, have));
    }
  }
  std::vector<size_t> variables;
  const NameIndex places(header);
  for (const std::string& name :
       like.series.modes[0].labels) {  // all present: compared above, or named in the config
    const size_t at = *places.find(name);
    const io::CsvColumn& column = table.columns[at];
    require(column.kind == io::CsvColumn::number || is_empty(column), ErrorKind::data,
            "column '{}' holds numbers in {}, but {} in {}", name, like_path,
            column.kind == io::CsvColumn::date ? std::string("dates")
                                               : "text (" + first_text(table, column) + ")",
            table.source);
    variables.push_back(at);
  }
  return variables;
}

void compare_units(SeriesTable& read, const Frame& like, const std::string& like_path) {
  for (const size_t value : read.values) {
    const io::CsvColumn& column = read.table.columns[value];
    if (is_empty(column)) continue;
    const auto found = like.series.units.find(column.name);
    const std::string was = found == like.series.units.end() ? "" : found->second;
    if (column.unit == was) continue;
    require(was.empty() || column.unit.empty(), ErrorKind::data,
            "{} and {}: the unit of column '{}' is {} in the first and {} in the second; convert the column",
            like_path, read.table.source, column.name, was, column.unit);
    const auto text = [](const std::string& unit) { return unit.empty() ? "no unit" : "the unit " + unit; };
    read.warnings.push_back(
        fmt::format("column '{}' has {}, but {} in the first file: the numbers are taken as they are",
                    column.name, text(column.unit), text(was)));
  }
}

}  // namespace modewise::data
