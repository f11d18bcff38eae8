#include <ATen/ops/full.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/forecasting/sources.h"
#include "modewise/data/forecasting/tables/categories.h"
#include "modewise/data/forecasting/tables/local_clock.h"
#include "modewise/data/forecasting/tables/long_table.h"
#include "modewise/data/forecasting/tables/periods_in_columns.h"
#include "modewise/data/forecasting/tables/series_in_rows.h"
#include "modewise/data/forecasting/tables/table_rows.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/data/number_marks.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/csv_dialect.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/text_input.h"

namespace modewise::data {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// "2", or "1-4".
io::LeftOutLines::Range line_range(const std::string& text) {
  io::LeftOutLines::Range range;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, range.first);
  range.last = range.first;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
    read = std::from_chars(read.ptr + 1, end, range.last);
  require(read.ec == std::errc() && read.ptr == end && range.first >= 1 && range.last >= range.first,
          ErrorKind::config, "data.skip_lines: expected line numbers from 1 such as 2 or 1-4, got '{}'",
          text);
  return range;
}

/// `texts`: columns that are texts besides those of `config.id`.
io::CsvOptions csv_options(const ForecastDataConfig& config, const std::vector<std::string>& texts = {}) {
  io::CsvOptions options;
  if (config.delimiter == "tab")
    options.delimiter = '\t';
  else if (config.delimiter == "space")
    options.delimiter = ' ';
  else if (!config.delimiter.empty()) {
    require(config.delimiter.size() == 1, ErrorKind::config,
            "data.delimiter: expected one character, tab or space, got '{}'", config.delimiter);
    options.delimiter = config.delimiter[0];
  }
  set_number_marks(options, config.marks);
  if (!config.usual_decimal.empty()) options.usual_decimal = config.usual_decimal[0];
  for (const std::string& lines : config.skip_lines) options.skip_lines.push_back(line_range(lines));
  if (config.header != "auto")
    options.header = config.header == "yes" ? io::CsvOptions::yes : io::CsvOptions::no;
  require(config.header_rows == 1 || config.header != "no", ErrorKind::config,
          "data.header_rows = {} and data.header = no contradict each other", config.header_rows);
  require(config.header_rows == 1 || config.orient != "rows", ErrorKind::config,
          "data.header_rows = {} joins the names of columns, but data.orient = rows", config.header_rows);
  options.header_rows = config.header_rows;
  options.missing.insert(options.missing.end(), config.missing_texts.begin(), config.missing_texts.end());
  std::vector<std::string> names = config.id;
  names.insert(names.end(), texts.begin(), texts.end());
  options.is_text = [names = std::move(names), of_time = time_texts(config)](std::string_view name) {
    return always_names_series(name) || (of_time && of_time(name)) ||
           std::find(names.begin(), names.end(), name) != names.end();
  };
  return options;
}

/// `rows`: as in DatedRows.
Place place_of(const io::CsvTable& table, std::vector<int64_t> rows, std::vector<std::string> names) {
  return [lines = TableLines(table), rows = std::move(rows), names = std::move(names)](int64_t row,
                                                                                       int64_t variable) {
    if (!rows.empty()) row = std::find(rows.begin(), rows.end(), row) - rows.begin();
    return fmt::format("{}:{}: column '{}'", lines.path(), lines(row), names[static_cast<size_t>(variable)]);
  };
}

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
  const bool nameless =
      lower(column.name).starts_with("unnamed: ") || column.name == fmt::format("column {}", place + 1);
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

/// Indices of the variable columns; notes explain the others.
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

/// The columns of config.variables, in their order, with a warning if it or the columns differ; as they are
/// if one is not there.
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

/// Finds the columns of `like` in this table.
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

/// Sets the columns of values; notes and warnings explain how the table is read.
void choose_values(SeriesTable& read) {
  const io::CsvTable& table = read.table;
  const std::vector<std::string> of_clock = std::exchange(read.notes, table.notes);
  if (!table.suspect_row.empty())
    read.warnings.push_back(header_warning(table.had_header, table.suspect_row));
  for (std::string& warning : date_warnings(read.time)) read.warnings.push_back(std::move(warning));
  read.notes.insert(read.notes.end(), read.time.notes.begin(), read.time.notes.end());
  read.values = matched_by_name(variable_columns(read), read);
  read.notes.insert(read.is_long() ? read.notes.begin() : read.notes.end(), of_clock.begin(), of_clock.end());
}

DatedRows rows_of(const SeriesTable& read) {
  const TableTime& time = read.time;
  DatedRows laid;
  laid.axis.length = read.table.rows;
  require(read.config.resample.empty() || !time.columns.empty(), ErrorKind::data,
          "{}: data.resample needs dates, but no column holds dates", read.table.source);
  if (time.columns.empty()) return laid;
  return lay_rows(time.dates, TableLines(read.table), time.style, read.table.source, read.config,
                  read.clock_changes);
}

/// Takes the changes of a local clock out of the dates, or, if they are pooled to days, the dates to that
/// clock. Returns the dates as they were; none if nothing changes. `series_of_row` as in find_local_clock.
std::vector<int64_t> follow_clock(SeriesTable& read, std::span<const int32_t> series_of_row = {}) {
  const ForecastDataConfig& config = read.config;
  if (config.dates == "rows" || config.orient == "periods") return {};
  if (pools_days(config)) {
    std::optional<std::vector<int64_t>> dates = local_dates(read.table, read.time, csv_options(config));
    if (!dates) return {};
    read.time.style.has_offset = false;
    read.notes = {"the UTC offset of the dates changes: they are pooled by days of local time"};
    return std::exchange(read.time.dates, std::move(*dates));
  }
  std::optional<LocalClock> found = find_local_clock(read.table, read.time, series_of_row);
  if (!found) return {};
  read.clock_changes = std::move(found->changes);
  if (found->column) read.clock_columns = {*found->column};
  read.notes = {std::move(found->note)};
  return std::exchange(read.time.dates, std::move(found->dates));
}

/// The table as one series: values and time axis.
Series lay_out(SeriesTable read) {
  DatedRows laid = rows_of(read);
  const auto width = std::ssize(read.values);
  std::vector<io::NumberCells*> columns;
  SeriesMode mode{"variable", {}, false};
  for (const size_t value : read.values) {
    io::CsvColumn& column = read.table.columns[value];
    mode.labels.push_back(column.name);
    columns.push_back(&column.numbers);  // empty for a column of texts without any text
  }
  Series series;
  series.values =
      at::full({laid.axis.length, width}, kMissing,
               read.config.resample.empty() ? type_of({columns.begin(), columns.end()}) : at::kDouble);
  const TensorCells values(series.values);
  for (int64_t i = 0; i < width; ++i) {
    io::NumberCells& column = *columns[static_cast<size_t>(i)];
    place_numbers(column, read.time, laid.rows, read.config, {values, i, width});
    column = {};  // freed early: files may be large
  }
  series.time = laid.axis;
  series.notes = std::move(laid.notes);
  series.place = place_of(read.table, std::move(laid.rows), mode.labels);
  series.modes = {std::move(mode)};
  return series;
}

Series to_series(SeriesTable read) {
  const bool is_long = read.is_long();
  Series head;
  head.header = read.table.had_header;
  if (read.table.decimal_proven) head.decimal = std::string(1, read.table.decimal);
  head.time_columns = time_columns(read.table, read.time);
  head.categories = read.config.words;
  head.notes = std::move(read.notes);
  head.warnings = std::move(read.warnings);
  head.units = read.units();
  Series series = is_long ? lay_side_by_side(std::move(read)) : lay_out(std::move(read));
  series.header = head.header;
  series.decimal = std::move(head.decimal);
  series.units = std::move(head.units);
  series.time_columns = std::move(head.time_columns);
  series.categories = std::move(head.categories);
  series.notes.insert(is_long ? series.notes.end() : series.notes.begin(), head.notes.begin(),
                      head.notes.end());
  series.warnings = std::move(head.warnings);
  return series;
}

/// The table of a file and its time; categories are encoded.
SeriesTable read_timed_table(const std::string& path, const ForecastDataConfig& asked,
                             const io::CsvOptions& options) {
  SeriesTable read;
  read.table = io::read_csv(path, options);
  read.config = asked;
  if (read.config.words.empty()) add_words(read.config.words, read.table, read.config);
  encode_categories(read.table, read.config.words, read.config);
  read.time = find_time(read.table, read.config);
  for (const size_t column : read.time.columns)
    std::vector<int64_t>().swap(read.table.columns[column].dates);  // now in read.time
  if (asked.orient == "periods") unfold_periods(read.table, read.time, read.config);
  return read;
}

/// A column of plain integers as texts.
io::CsvColumn as_texts(const io::CsvColumn& column) {
  io::CsvColumn texts;
  texts.name = column.name;
  texts.kind = io::CsvColumn::text;
  texts.texts.reserve(column.numbers.size());
  for (const double number : column.numbers)
    texts.texts.push_back(fmt::format_int(static_cast<int64_t>(number)).c_str());
  return texts;
}

/// The series ids as texts. A table with ids that are not written as their numbers would be, such as 007, is
/// read again.
std::optional<TableIds> ids_as_written(SeriesTable& read, const ForecastDataConfig& asked) {
  const io::CsvTable& table = read.table;
  std::vector<size_t> numbers;
  const auto add_number = [&](size_t column) {
    if (table.columns[column].kind == io::CsvColumn::number && !read.time.takes(column))
      numbers.push_back(column);
  };
  if (asked.id.empty() && may_hold_several_series(read.time))
    for (size_t column = 0; column < table.columns.size(); ++column)
      if (usually_names_series(table.columns[column].name)) add_number(column);
  std::optional<TableIds> ids;
  if (numbers.empty()) {
    ids = find_ids(table, read.time, read.config);
    if (ids)
      for (const size_t column : ids->columns) add_number(column);
    if (numbers.empty()) return ids;
  }
  // Dates that follow a local clock, and categories, depend on which columns are numbers.
  const bool plain = read.notes.empty() && asked.categories.empty() &&
                     std::all_of(numbers.begin(), numbers.end(),
                                 [&](size_t column) { return table.columns[column].plain_integers; });
  if (plain) {
    std::vector<io::CsvColumn> before;
    for (const size_t column : numbers)
      before.push_back(std::exchange(read.table.columns[column], as_texts(table.columns[column])));
    ids = find_ids(table, read.time, read.config);
    for (size_t i = 0; i < numbers.size() && !ids; ++i) read.table.columns[numbers[i]] = std::move(before[i]);
    return ids;
  }
  std::vector<std::string> names;
  for (const size_t column : numbers) names.push_back(table.columns[column].name);
  SeriesTable texts = read_timed_table(asked.path, asked, csv_options(asked, names));
  ids = find_ids(texts.table, texts.time, texts.config);
  if (ids) read = std::move(texts);
  return ids;
}

/// Finds the local clock and the series ids. The table counts as one series first: a column of zones is not
/// an id.
void find_series(SeriesTable& read, const ForecastDataConfig& asked) {
  std::vector<int64_t> dates = follow_clock(read);
  if (std::optional<TableIds> ids = ids_as_written(read, asked)) {
    if (!pools_days(read.config)) {
      // The dates are followed again, by series.
      if (!read.notes.empty()) read.time.dates = std::move(dates);
      read.clock_changes = {};
      read.clock_columns = {};
      read.notes = {};
    }
    if (read.notes.empty()) follow_clock(read, ids->of_row);
    for (const size_t column : ids->columns) read.table.columns[column].texts = {};
    read.ids = std::move(*ids);
  }
}

/// A header of dates or years looks like values, but data.orient = columns takes it as names.
io::CsvOptions file_options(const ForecastDataConfig& asked) {
  io::CsvOptions options = csv_options(asked);
  if (asked.orient == "columns" && asked.header == "auto" && has_dates_in_header(asked.path, options))
    options.header = io::CsvOptions::yes;
  return options;
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

std::string header_warning(bool names, const std::string& row) {
  return names ? fmt::format(
                     "the first row ({}) is read as column names, since its whole numbers are unlike the "
                     "values below: data.header=no reads it as values",
                     row)
               : fmt::format("the first row ({}) is read as values: data.header=yes reads it as column names",
                             row);
}

std::vector<std::string> numbered_labels(int64_t count, int64_t first) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < count; ++i) labels.push_back(fmt::format("{}", first + i));
  return labels;
}

void add_words(Categories& words, const std::string& path, const ForecastDataConfig& config) {
  add_words(words, io::read_csv(path, csv_options(config)), config);
}

/// Data error for a column with another unit than in the first file; a warning if one of them has none.
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

Frame read_frame(const std::string& path, const ForecastDataConfig& asked, const Frame* like,
                 const std::string& like_path) {
  ForecastDataConfig config = asked;
  if (like != nullptr && !like->series.decimal.empty()) config.usual_decimal = like->series.decimal;
  config.keeps_empty = true;  // another file may have values
  io::CsvOptions options = csv_options(config);
  if (like != nullptr) options.header = *like->series.header ? io::CsvOptions::yes : io::CsvOptions::no;
  SeriesTable read = read_timed_table(path, config, options);
  Frame frame;
  for (const io::CsvColumn& column : read.table.columns) frame.header.push_back(column.name);
  follow_clock(read);
  choose_values(read);
  if (like != nullptr) {
    read.values = same_variables(read.table, read.config, *like, like_path);
    compare_units(read, *like, like_path);
  }
  frame.constant_texts = std::move(read.constant_texts);
  frame.series = to_series(std::move(read));
  return frame;
}

bool header_names_ids(const ForecastDataConfig& config) {
  const io::MappedFile file(config.path);
  const io::TextInput input(file.bytes(), config.path);
  const io::CsvDialect dialect = io::guess_dialect(input.text(), config.path, csv_options(config));
  io::CsvScanner scanner(input.text(), dialect.delimiter, config.path);
  scanner.leave_out(dialect.left_out);
  bool found = false;
  scanner.row([&](size_t, std::string_view cell) {
    const std::string name(io::strip_spaces(cell));
    found = found || always_names_series(name) || usually_names_series(name);
  });
  return dialect.header && found;
}

std::optional<SeriesTable> read_long_table(const ForecastDataConfig& asked) {
  const io::CsvOptions options = file_options(asked);
  if (has_series_in_rows(asked, options)) return std::nullopt;
  SeriesTable read = read_timed_table(asked.path, asked, options);
  find_series(read, asked);
  if (!read.is_long()) return std::nullopt;
  read.statics = static_columns(read.table, read.ids, read.config);
  choose_values(read);
  return read;
}

Series read_csv_series(const ForecastDataConfig& asked) {
  const io::CsvOptions options = file_options(asked);
  if (has_series_in_rows(asked, options)) return read_series_in_rows(asked, options);
  SeriesTable read = read_timed_table(asked.path, asked, options);
  require_known_orient(read.table, read.time, asked);
  require_no_periods(read.table, read.time, asked);
  find_series(read, asked);
  choose_values(read);
  return to_series(std::move(read));
}

}  // namespace modewise::data
