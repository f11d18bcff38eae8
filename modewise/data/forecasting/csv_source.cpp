#include <ATen/ops/full.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/data/forecasting/sources.h"
#include "modewise/data/forecasting/tables/categories.h"
#include "modewise/data/forecasting/tables/local_clock.h"
#include "modewise/data/forecasting/tables/long_table.h"
#include "modewise/data/forecasting/tables/periods_in_columns.h"
#include "modewise/data/forecasting/tables/series_in_rows.h"
#include "modewise/data/forecasting/tables/table_rows.h"
#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/data/forecasting/tables/value_columns.h"
#include "modewise/data/number_marks.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/csv_dialect.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/text_input.h"

namespace modewise::data {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

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

/// Takes the changes of a local clock out of the dates, or, if they are days or pooled to days, the dates to
/// that clock. Returns the dates as they were before changes were taken out. `series_of_row` as in
/// find_local_clock.
std::vector<int64_t> follow_clock(SeriesTable& read, std::span<const int32_t> series_of_row = {}) {
  const ForecastDataConfig& config = read.config;
  if (config.orient == "periods" || read.time.counted) return {};
  if (config.resample.empty())
    if (std::optional<std::string> note =
            take_local_days(read.table, read.time, config, csv_options(config))) {
      read.notes = {std::move(*note)};
      return {};
    }
  if (config.dates == "rows") return {};
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
  if (asked.id.empty() && asked.trained_id.empty() && may_hold_several_series(read.time))
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
  std::optional<TableIds> ids = ids_as_written(read, asked);
  require(
      ids || !read.time.counted, ErrorKind::data,
      "{}: the numbers of column '{}' are times (data.time_format = number) of a panel, but no column names "
      "its series: data.id names the column, data.drop = {} reads the rows in their order",
      read.table.source, read.table.columns[read.time.counted ? read.time.columns[0] : 0].name,
      read.table.columns[read.time.counted ? read.time.columns[0] : 0].name);
  if (ids) {
    if (!read.clock_changes.empty()) {
      // The dates are followed again, by series.
      read.time.dates = std::move(dates);
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
  require(
      lower_extension(asked.path) != ".tsf", ErrorKind::data,
      "{}: files of the Monash archive (.tsf) are not read: write them as a long table, with a row for each "
      "series and date (unique_id, ds, y)",
      asked.path);
  io::CsvOptions options = csv_options(asked);
  if (asked.orient == "columns" && asked.header == "auto" && has_dates_in_header(asked.path, options))
    options.header = io::CsvOptions::yes;
  return options;
}

}  // namespace

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
