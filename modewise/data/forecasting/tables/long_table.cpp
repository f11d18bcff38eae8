#include "modewise/data/forecasting/tables/long_table.h"

#include <ATen/ops/full.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/forecasting/tables/table_rows.h"
#include "modewise/io/ascii.h"

namespace modewise::data {
namespace {

bool names_ids(std::string_view name) {
  static const std::array<std::string_view, 25> names = {
      "unique_id",   "item_id",    "series_id", "ts_id",      "id",        "series",   "item",
      "station",     "station_id", "sensor",    "sensor_id",  "site",      "site_id",  "store",
      "symbol",      "ticker",     "store_id",  "store_nbr",  "device_id", "meter_id", "product_id",
      "series_name", "seriesid",   "uid",       "location_id"};
  return std::find(names.begin(), names.end(), io::to_lower(name)) != names.end();
}

/// Words that distinguish seasons of the clock or other states, not series: CET and CEST, Y and N, +01:00.
bool is_flag(std::string_view text) {
  static const std::array<std::string_view, 44> words = {
      "y",   "n",    "yes", "no",     "true",   "false", "t",    "f",    "0",    "1",    "on",
      "off", "dst",  "std", "summer", "winter", "utc",   "gmt",  "bst",  "ist",  "est",  "edt",
      "cst", "cdt",  "mst", "mdt",    "pst",    "pdt",   "akst", "akdt", "hst",  "cet",  "cest",
      "eet", "eest", "wet", "msk",    "jst",    "aest",  "aedt", "acst", "acdt", "nzst", "nzdt"};
  const std::string word = io::to_lower(text);
  if (std::find(words.begin(), words.end(), word) != words.end()) return true;
  return word.size() >= 3 && (word[0] == '+' || word[0] == '-') &&
         word.find_first_not_of("0123456789:", 1) == std::string::npos;
}

/// Numbers with a unit, percents, clock times, weekdays and months: values of a row, not names of series.
bool is_value(std::string_view text) {
  static const std::array<std::string_view, 19> words = {"mon", "tue", "wed", "thu", "fri", "sat", "sun",
                                                         "jan", "feb", "mar", "apr", "may", "jun", "jul",
                                                         "aug", "sep", "oct", "nov", "dec"};
  static const std::array<std::string_view, 19> full = {
      "monday",  "tuesday",   "wednesday", "thursday", "friday",  "saturday", "sunday",
      "january", "february",  "march",     "april",    "may",     "june",     "july",
      "august",  "september", "october",   "november", "december"};
  const std::string word = io::to_lower(text);
  if (std::find(words.begin(), words.end(), word) != words.end() ||
      std::find(full.begin(), full.end(), word) != full.end())
    return true;
  size_t at = word.find_first_not_of("+-$( ");
  if (at == std::string::npos || std::isdigit(static_cast<unsigned char>(word[at])) == 0) return false;
  at = word.find_first_not_of("0123456789.,: ", at);  // also 18.00.00 and 09:30
  if (at == std::string::npos) return word.find_first_of(".,:%") != std::string::npos;
  const std::string unit = word.substr(at);
  return unit == "%" || unit == "k" || unit == "m" || unit == "b" || unit == "am" || unit == "pm";
}

/// Text of an id cell; "": missing. Texts of numbers are written to `buffer`.
std::string_view label_text(const io::CsvColumn& column, size_t row, std::string& buffer) {
  if (column.kind == io::CsvColumn::text) return column.texts[row];
  const double x = column.numbers[row];
  if (std::isnan(x)) return "";
  buffer.clear();
  fmt::format_to(std::back_inserter(buffer), "{}", x);
  return buffer;
}

/// A column without empty cells that has an id's name, or whose texts may name series.
bool could_be_ids(const io::CsvColumn& column) {
  const bool named = names_ids(column.name);
  if (column.kind == io::CsvColumn::number)
    return named && std::all_of(column.numbers.begin(), column.numbers.end(),
                                [](double x) { return x == std::floor(x); });
  if (column.kind != io::CsvColumn::text ||
      std::any_of(column.texts.begin(), column.texts.end(), [](const auto& t) { return t.empty(); }))
    return false;
  return named || (!std::all_of(column.texts.begin(), column.texts.end(), is_flag) &&
                   !std::all_of(column.texts.begin(), column.texts.end(), is_value));
}

TableIds ids_of(const io::CsvTable& table, const std::vector<size_t>& columns) {
  TableIds ids{columns, {}, {}};
  ids.of_row.reserve(static_cast<size_t>(table.rows));
  io::DistinctTexts labels;  // cells of each series, joined by "/"
  std::string label, last, buffer;
  for (size_t row = 0; row < static_cast<size_t>(table.rows); ++row) {
    label.clear();
    for (const size_t column : columns) {
      const std::string_view cell = label_text(table.columns[column], row, buffer);
      if (cell.empty())
        fail(ErrorKind::data, "{}:{}: column '{}' must name a series, the cell is empty", table.source,
             TableLines(table)(static_cast<int64_t>(row)), table.columns[column].name);
      if (column != columns.front()) label += '/';
      label += cell;
    }
    if (row > 0 && label == last) {
      ids.of_row.push_back(ids.of_row.back());
      continue;
    }
    std::swap(label, last);
    const uint32_t series = labels.add(last);
    require(series <= std::numeric_limits<int32_t>::max(), ErrorKind::data,
            "{}: its series ids take more than 4 GiB", table.source);
    if (series == ids.series.size()) {
      std::vector<std::string> cells;
      for (const size_t column : columns) cells.emplace_back(label_text(table.columns[column], row, buffer));
      ids.series.add(cells);
    }
    ids.of_row.push_back(static_cast<int32_t>(series));
  }
  return ids;
}

/// Whether no series has a date twice.
bool part_rows(const TableIds& ids, const TableTime& time) {
  return !dates_by_series(time.dates, ids.of_row).any_two(std::equal_to<>());
}

/// Whether every label has several rows.
bool have_several_rows(const TableIds& ids) {
  std::vector<int64_t> rows(ids.series.size());
  for (const int32_t label : ids.of_row) ++rows[static_cast<size_t>(label)];
  return std::all_of(rows.begin(), rows.end(), [](int64_t count) { return count > 1; });
}

/// Whether labels have several rows on average, and are few.
bool make_series(const TableIds& ids) {
  return ids.series.size() >= 2 && 2 * ids.series.size() <= ids.of_row.size();
}

bool is_number_of_rows(const TableIds& ids) {
  return ids.series.size() == ids.of_row.size();
}

/// Whether the rows come in rounds that have each label once.
bool are_rounds(const TableIds& ids) {
  const size_t count = ids.series.size();
  for (size_t row = count; row < ids.of_row.size(); ++row)
    if (ids.of_row[row] != ids.of_row[row - count]) return false;
  return ids.of_row.size() % count == 0;
}

/// Whether the rows of each label follow each other.
bool are_blocks(const TableIds& ids) {
  size_t blocks = 1;
  for (size_t row = 1; row < ids.of_row.size(); ++row) blocks += ids.of_row[row] != ids.of_row[row - 1];
  return blocks == ids.series.size();
}

/// Rows for each distinct date, on average.
double rows_for_each_date(const std::vector<int64_t>& dates) {
  return static_cast<double>(dates.size()) / static_cast<double>(sorted_distinct(dates).size());
}

/// Whether the dates neither increase nor decrease all along.
bool are_unordered(const std::vector<int64_t>& dates) {
  return !std::is_sorted(dates.begin(), dates.end()) && !std::is_sorted(dates.rbegin(), dates.rend());
}

std::string quoted_names(const io::CsvTable& table, const std::vector<size_t>& columns) {
  std::vector<std::string> names;
  for (const size_t column : columns) names.push_back("'" + table.columns[column].name + "'");
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<size_t> asked_for(const io::CsvTable& table, const ForecastDataConfig& config) {
  std::vector<std::string> names;
  for (const io::CsvColumn& column : table.columns) names.push_back(column.name);
  std::vector<size_t> columns;
  for (const std::string& name : config.id) {
    const auto at = std::find(names.begin(), names.end(), name);
    require(at != names.end(), ErrorKind::config, "data.id: {} has no column '{}'{}", table.source, name,
            nearest_name_hint(name, names));
    columns.push_back(static_cast<size_t>(at - names.begin()));
    require(table.columns[columns.back()].kind != io::CsvColumn::date, ErrorKind::config,
            "data.id: column '{}' of {} holds dates", name, table.source);
  }
  return columns;
}

/// Series ids from columns with usual names; none if they part no rows. Of several columns that each part the
/// rows into the same series it is the first; otherwise the columns are the id together.
std::optional<TableIds> named_ids(const io::CsvTable& table, const TableTime& time,
                                  const std::vector<size_t>& named, const ForecastDataConfig& config) {
  std::vector<TableIds> parting;
  std::vector<size_t> several;
  for (const size_t column : named) {
    TableIds ids = ids_of(table, {column});
    if (is_number_of_rows(ids) && !config.takes_single_rows()) continue;
    if (ids.series.size() > 1) several.push_back(column);
    if (ids.series.size() > 1 && part_rows(ids, time)) parting.push_back(std::move(ids));
  }
  for (size_t i = 1; i < parting.size(); ++i)
    if (parting[i].of_row != parting[0].of_row)
      fail(ErrorKind::data,
           "{}: the rows belong to several series, and the columns '{}', '{}' could be the series id: set "
           "data.id "
           "to one",
           table.source, table.columns[parting[0].columns[0]].name,
           table.columns[parting[i].columns[0]].name);
  if (!parting.empty()) return std::move(parting[0]);
  // All columns together are the id; duplicate dates of a series are then reported.
  if (!several.empty() && config.dates != "rows") return ids_of(table, several);
  return std::nullopt;
}

/// Columns that together give no series a date twice, without those that it does not take; empty: none.
std::vector<size_t> columns_that_part_rows(const io::CsvTable& table, const TableTime& time,
                                           std::vector<size_t> columns) {
  const auto parts = [&](const std::vector<size_t>& some) {
    if (some.empty()) return false;
    const TableIds ids = ids_of(table, some);
    return make_series(ids) && part_rows(ids, time);
  };
  if (!parts(columns)) return {};
  for (size_t i = columns.size(); i-- > 0;) {
    std::vector<size_t> fewer = columns;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (parts(fewer)) columns = std::move(fewer);
  }
  return columns;
}

/// Columns of whole numbers with few values.
std::vector<size_t> columns_of_numbers(const io::CsvTable& table, const TableTime& time) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const io::CsvColumn& column = table.columns[i];
    if (column.kind == io::CsvColumn::number && !time.takes(i) &&
        std::all_of(column.numbers.begin(), column.numbers.end(),
                    [](double x) { return x == std::floor(x); }))
      columns.push_back(i);
  }
  return columns;
}

/// The series of a table whose dates increase all along: of columns with names of ids,
/// if each series ends before the next and has several rows.
std::optional<TableIds> ids_one_after_the_other(const io::CsvTable& table, const std::vector<size_t>& named) {
  std::vector<size_t> columns;
  for (const size_t column : named)
    if (const TableIds ids = ids_of(table, {column});
        ids.series.size() > 1 && have_several_rows(ids) && are_blocks(ids))
      columns.push_back(column);
  if (columns.empty()) return std::nullopt;
  TableIds ids = ids_of(table, columns);
  if (!have_several_rows(ids)) return std::nullopt;
  return ids;
}

/// Series of rows without dates: the column with the name of an id whose labels have several rows; numbers
/// only in blocks, or in rounds of all labels. Data error if there are several such columns, none of which
/// parts the rows as all together do.
std::optional<TableIds> ids_without_dates(const io::CsvTable& table, const ForecastDataConfig& config) {
  std::vector<TableIds> found;
  std::vector<size_t> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const io::CsvColumn& column = table.columns[i];
    if (!names_ids(column.name) || !could_be_ids(column) ||
        std::find(config.drop.begin(), config.drop.end(), column.name) != config.drop.end() ||
        std::find(config.columns.begin(), config.columns.end(), column.name) != config.columns.end())
      continue;
    TableIds ids = ids_of(table, {i});
    if (!make_series(ids) || (column.kind == io::CsvColumn::number && !are_blocks(ids) && !are_rounds(ids)))
      continue;
    columns.push_back(i);
    found.push_back(std::move(ids));
  }
  if (found.size() < 2) return found.empty() ? std::nullopt : std::optional(std::move(found[0]));
  const TableIds all = ids_of(table, columns);
  for (TableIds& ids : found)
    if (ids.of_row == all.of_row) return std::move(ids);
  std::vector<std::string> names;
  for (const size_t column : columns) names.push_back(table.columns[column].name);
  fail(
      ErrorKind::data,
      "{}: the rows belong to several series, and the columns {} could be the series id: set data.id to one, "
      "or to all, [\"{}\"]",
      table.source, quoted_names(table, columns), fmt::join(names, "\", \""));
}

/// The id columns of the training data of a panel run, if the table has them.
std::optional<TableIds> trained_ids(const io::CsvTable& table, const ForecastDataConfig& config) {
  std::vector<size_t> columns;
  for (const std::string& name : config.trained_id) {
    const io::CsvColumn* column = table.find(name);
    if (column == nullptr || column->kind == io::CsvColumn::date) return std::nullopt;
    columns.push_back(static_cast<size_t>(column - table.columns.data()));
  }
  if (columns.empty()) return std::nullopt;
  return ids_of(table, columns);
}

/// Whether a column that is neither time nor id has other texts or whole numbers in two rows, as an id may. A
/// single column of values is none.
bool may_part(const SeriesTable& read, size_t column, int64_t first, int64_t row) {
  const std::vector<size_t>&ids = read.ids.columns, &values = read.values;
  if (read.time.takes(column) || std::ranges::find(ids, column) != ids.end()) return false;
  if (values.size() == 1 && values[0] == column) return false;
  const auto differ = [&](const auto& cells) {
    return std::ssize(cells) > std::max(first, row) &&
           cells[static_cast<size_t>(first)] != cells[static_cast<size_t>(row)];
  };
  const io::CsvColumn& cells = read.table.columns[column];
  if (cells.kind == io::CsvColumn::text) return differ(cells.texts);
  return cells.kind == io::CsvColumn::number && differ(cells.numbers) &&
         std::ranges::all_of(cells.numbers, [](double x) { return x == std::floor(x); });
}

void require_shared(const io::CsvTable& table, const TableIds& ids, int64_t cells) {
  const auto maximum =
      static_cast<int64_t>(2 * std::filesystem::file_size(table.source) + (size_t{64} << 20)) / 8;
  require(cells <= maximum, ErrorKind::data,
          "{}: its {} series share too few dates: pivoted they would have {} cells for {} rows", table.source,
          ids.series.size(), cells, table.rows);
}

}  // namespace

int64_t Clock::row_of(int64_t date) const {
  const auto at = std::lower_bound(dates.begin(), dates.end(), date) - dates.begin();
  return laid.rows.empty() ? at : laid.rows[static_cast<size_t>(at)];
}

Clock shared_clock(const io::CsvTable& table, const TableTime& time,
                   const std::vector<ClockChange>& clock_changes, const ForecastDataConfig& config,
                   int64_t step) {
  const auto row_with = [&](int64_t date) {
    return std::find(time.dates.begin(), time.dates.end(), date) - time.dates.begin();
  };
  Clock clock{sorted_distinct(time.dates), {}};
  const LineOf line_of = [&](int64_t at) {
    return TableLines(table)(row_with(clock.dates[static_cast<size_t>(at)]));
  };
  clock.laid = lay_rows(clock.dates, line_of, time.style, table.source, config, clock_changes, step);
  return clock;
}

void fail_second_row(const SeriesTable& read, int64_t first, int64_t row) {
  bool parted = false;
  for (size_t column = 0; column < read.table.columns.size(); ++column)
    parted = parted || may_part(read, column, first, row);
  const TableLines lines(read.table);
  const auto at = static_cast<size_t>(row);
  fail(ErrorKind::data, "{}:{}: series '{}' has a second row for {}, the first is in line {}: {}",
       read.table.source, lines(row), read.ids.series.label(static_cast<size_t>(read.ids.of_row[at])),
       io::format_date_time(read.time.dates[at], read.time.style), lines(first),
       parted ? "set data.id to all series id columns" : "remove one of them");
}

std::string long_table_note(const std::vector<std::string>& id, int64_t series) {
  return fmt::format("a long table of {} series with the id '{}'", series, fmt::join(id, "/"));
}

bool always_names_series(std::string_view column) {
  const std::string name = io::to_lower(column);
  return name == "unique_id" || name == "item_id" || name == "series_id" || name == "ts_id";
}

bool usually_names_series(std::string_view column) {
  return names_ids(column);
}

bool may_hold_several_series(const TableTime& time) {
  return !time.columns.empty() && (rows_for_each_date(time.dates) > 1 || are_unordered(time.dates));
}

std::optional<TableIds> find_series_ids(const io::CsvTable& table, const TableTime& time,
                                        const ForecastDataConfig& config) {
  if (config.id == std::vector<std::string>{"none"}) return std::nullopt;
  if (!config.id.empty()) return ids_of(table, asked_for(table, config));
  if (auto ids = trained_ids(table, config)) return ids;
  if (table.rows < 2 && !config.takes_single_rows()) return std::nullopt;
  if (time.columns.empty()) return ids_without_dates(table, config);
  std::vector<size_t> always, named, others;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (time.takes(i)) continue;
    const io::CsvColumn& column = table.columns[i];
    if (always_names_series(column.name))
      always.push_back(i);
    else if (could_be_ids(column))
      (names_ids(column.name) ? named : others).push_back(i);
  }
  const double repeats = rows_for_each_date(time.dates);
  const bool equal = repeats > 1, unordered = are_unordered(time.dates);
  for (const size_t column : always) {
    TableIds ids = ids_of(table, {column});
    if (is_number_of_rows(ids) && !config.takes_single_rows() && !unordered && !equal) continue;
    if (part_rows(ids, time) || named.empty()) return ids;
    named.insert(std::upper_bound(named.begin(), named.end(), column), column);
  }
  if (!equal && !unordered) return ids_one_after_the_other(table, named);
  if (std::optional<TableIds> ids = named_ids(table, time, named, config)) return ids;
  if (!equal) return std::nullopt;
  std::vector<TableIds> found;
  std::vector<size_t> columns;
  for (const size_t column : others)
    if (TableIds ids = ids_of(table, {column});
        make_series(ids) && part_rows(ids, time) && (repeats >= 1.5 || are_blocks(ids))) {
      columns.push_back(column);
      found.push_back(std::move(ids));
    }
  if (!found.empty()) {
    require(std::all_of(found.begin(), found.end(),
                        [&](const TableIds& ids) { return ids.of_row == found[0].of_row; }),
            ErrorKind::data,
            "{}: the rows belong to several series, and the columns {} could be the series id: set data.id "
            "to one",
            table.source, quoted_names(table, columns));
    return std::move(found[0]);
  }
  if (config.dates == "rows" || !config.resample.empty() || repeats < 1.1) return std::nullopt;
  for (const std::vector<size_t>& some : {others, columns_of_numbers(table, time)}) {
    columns = columns_that_part_rows(table, time, some);
    if (columns.empty()) continue;
    std::vector<std::string> names;
    for (const size_t column : columns) names.push_back(table.columns[column].name);
    const bool one = columns.size() == 1;
    fail(ErrorKind::data,
         "{}: dates repeat, and the column{} {} could name the series: data.id = {} reads a long table, "
         "data.id = "
         "none one series",
         table.source, one ? "" : "s", quoted_names(table, columns),
         one ? names[0] : fmt::format("[\"{}\"]", fmt::join(names, "\", \"")));
  }
  return std::nullopt;
}

std::optional<TableIds> find_ids(const io::CsvTable& table, const TableTime& time,
                                 const ForecastDataConfig& config) {
  std::optional<TableIds> ids = find_series_ids(table, time, config);
  if (!ids) return ids;
  if (config.panel != "yes" && (time.columns.empty() || time.counted))
    fail(
        ErrorKind::data,
        "{}: column '{}' names {} series, but no column holds dates: data.panel = yes reads the rows of each "
        "series {}, data.id = none one series",
        table.source, table.columns[ids->columns[0]].name, ids->series.size(),
        time.counted ? fmt::format("by the numbers of column '{}'", table.columns[time.columns[0]].name)
                     : "in their order");
  require(config.takes_single_rows() || std::ssize(ids->series) < table.rows, ErrorKind::data,
          "{}: {} is its own series with {} as series id; data.id = none reads one series", table.source,
          table.rows == 1 ? "its row" : fmt::format("each of the {} rows", table.rows),
          table.columns[ids->columns[0]].name);
  return ids;
}

Series lay_side_by_side(SeriesTable read) {
  io::CsvTable& table = read.table;
  const TableTime& time = read.time;
  const TableIds& ids = read.ids;
  const Clock clock = shared_clock(table, time, read.clock_changes, read.config);
  const auto count = std::ssize(ids.series), width = std::ssize(read.values), length = clock.laid.axis.length;
  require_shared(table, ids, length * count * width);
  std::vector<int64_t> cell(ids.of_row.size(), -1);  // of each row: (date, series)
  std::vector<bool> filled(static_cast<size_t>(length * count));
  for (size_t row = 0; row < cell.size(); ++row) {
    const int64_t at = clock.row_of(time.dates[row]) * count + ids.of_row[row];
    if (filled[static_cast<size_t>(at)] && read.config.resample.empty())
      fail_second_row(read, std::find(cell.begin(), cell.end(), at) - cell.begin(),
                      static_cast<int64_t>(row));
    filled[static_cast<size_t>(at)] = true;
    cell[row] = at;
  }
  Series series;
  std::vector<int64_t> shape = {length, count};
  if (width > 1) shape.push_back(width);
  series.values = at::full(shape, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  const TensorCells out(series.values);
  LongLayout layout{{}, ids.series, {}};
  for (const size_t column : ids.columns) layout.id.push_back(table.columns[column].name);
  for (int64_t i = 0; i < width; ++i) {
    io::CsvColumn& column = table.columns[read.values[static_cast<size_t>(i)]];
    layout.values.push_back(column.name);
    place_numbers(column.numbers, time, cell, read.config, {out, i, width});
    column.numbers = {};  // freed early: files may be large
  }
  const std::string id = fmt::format("{}", fmt::join(layout.id, "/"));
  series.modes = {{id, ids.series.labels(), false}};
  if (width > 1) series.modes.push_back({"variable", layout.values, false});
  series.time = clock.laid.axis;
  series.notes = clock.laid.notes;
  series.notes.insert(series.notes.begin(), long_table_note(layout.id, count));
  series.place = [lines = TableLines(table), cell = std::move(cell), layout, width, series_count = count](
                     int64_t row, int64_t index) {
    const auto at = std::find(cell.begin(), cell.end(), row * series_count + index / width) - cell.begin();
    return fmt::format("{}:{}: column '{}'", lines.path(), lines(at),
                       layout.values[static_cast<size_t>(index % width)]);
  };
  series.long_layout = std::move(layout);
  return series;
}

}  // namespace modewise::data
