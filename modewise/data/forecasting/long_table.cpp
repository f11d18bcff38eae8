#include "modewise/data/forecasting/long_table.h"

#include <ATen/ops/full.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <unordered_map>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"

namespace modewise::data {
namespace {

bool names_ids(const std::string& name) {
  static const std::array<std::string_view, 15> names = {
      "unique_id",  "item_id", "series_id", "ts_id", "id",      "series", "item",  "station",
      "station_id", "sensor",  "sensor_id", "site",  "site_id", "store",  "symbol"};
  std::string small = name;
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::find(names.begin(), names.end(), small) != names.end();
}

/// Text of an id cell; "": missing.
std::string label_text(const io::CsvColumn& column, size_t row) {
  if (column.kind == io::CsvColumn::text) return std::string(column.texts[row]);
  const double x = column.numbers[row];
  return std::isnan(x) ? "" : fmt::format("{}", x);
}

bool could_be_ids(const io::CsvColumn& column) {
  if (column.kind == io::CsvColumn::text)
    return std::none_of(column.texts.begin(), column.texts.end(), [](const auto& t) { return t.empty(); });
  return column.kind == io::CsvColumn::number && names_ids(column.name) &&
         std::all_of(column.numbers.begin(), column.numbers.end(),
                     [](double x) { return x == std::floor(x); });
}

TableIds ids_of(const io::CsvTable& table, const std::vector<size_t>& columns) {
  TableIds ids{columns, {}, {}, {}};
  std::unordered_map<std::string, int32_t> numbers;
  for (size_t row = 0; row < static_cast<size_t>(table.rows); ++row) {
    std::vector<std::string> cells;
    for (const size_t column : columns) {
      cells.push_back(label_text(table.columns[column], row));
      if (cells.back().empty())
        fail(ErrorKind::data, "{}:{}: column '{}' must name a series, the cell is empty", table.source,
             TableLines(table)(static_cast<int64_t>(row)), table.columns[column].name);
    }
    const auto [at, is_new] = numbers.try_emplace(fmt::format("{}", fmt::join(cells, "/")),
                                                  static_cast<int32_t>(ids.labels.size()));
    if (is_new) {
      ids.labels.push_back(at->first);
      ids.cells.push_back(std::move(cells));
    }
    ids.of_row.push_back(at->second);
  }
  return ids;
}

bool tell_rows_apart(const TableIds& ids, const TableTime& time) {
  std::vector<std::pair<int64_t, int32_t>> pairs;
  for (size_t row = 0; row < ids.of_row.size(); ++row) pairs.emplace_back(time.dates[row], ids.of_row[row]);
  std::sort(pairs.begin(), pairs.end());
  return std::adjacent_find(pairs.begin(), pairs.end()) == pairs.end();
}

/// Whether the dates look like a long table: they decrease, or most occur more than once.
bool repeats_dates(std::vector<int64_t> dates) {
  if (!std::is_sorted(dates.begin(), dates.end())) return true;
  const size_t rows = dates.size();
  dates.erase(std::unique(dates.begin(), dates.end()), dates.end());
  return 2 * rows >= 3 * dates.size();
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

std::optional<TableIds> found_ids(const io::CsvTable& table, const TableTime& time,
                                  const ForecastDataConfig& config) {
  if (time.columns.empty() || table.rows < 2 || !repeats_dates(time.dates)) return std::nullopt;
  std::vector<TableIds> found;
  std::vector<size_t> named;
  std::optional<TableIds> of_each_row;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (std::find(time.columns.begin(), time.columns.end(), i) != time.columns.end()) continue;
    if (!could_be_ids(table.columns[i])) continue;
    TableIds ids = ids_of(table, {i});
    if (ids.labels.size() < 2) continue;
    if (std::ssize(ids.labels) == table.rows) {
      if (!of_each_row) of_each_row = std::move(ids);
      continue;
    }
    const bool is_named = names_ids(table.columns[i].name);
    if (is_named) named.push_back(i);
    if (!tell_rows_apart(ids, time)) continue;
    if (is_named) return ids;
    found.push_back(std::move(ids));
  }
  // All columns together are the id; duplicate dates of a series are then reported.
  if (found.empty() && !named.empty() && config.dates != "rows") return ids_of(table, named);
  if (found.empty()) return of_each_row;
  std::vector<std::string> names;
  for (const TableIds& ids : found) names.push_back("'" + table.columns[ids.columns[0]].name + "'");
  require(
      found.size() == 1, ErrorKind::data,
      "{}: the rows belong to several series, and the columns {} could be the series id: set data.id to one",
      table.source, fmt::join(names, ", "));
  return std::move(found[0]);
}

/// Distinct dates of all series, and their rows on the time axis.
struct Clock {
  std::vector<int64_t> dates;
  DatedRows laid;

  int64_t row_of(int64_t date) const {
    const auto at = std::lower_bound(dates.begin(), dates.end(), date) - dates.begin();
    return laid.rows.empty() ? at : laid.rows[static_cast<size_t>(at)];
  }
};

Clock shared_clock(const io::CsvTable& table, const TableTime& time, const ForecastDataConfig& config) {
  const auto row_with = [&](int64_t date) {
    return std::find(time.dates.begin(), time.dates.end(), date) - time.dates.begin();
  };
  Clock clock{time.dates, {}};
  std::sort(clock.dates.begin(), clock.dates.end());
  clock.dates.erase(std::unique(clock.dates.begin(), clock.dates.end()), clock.dates.end());
  const LineOf line_of = [&](int64_t at) {
    return TableLines(table)(row_with(clock.dates[static_cast<size_t>(at)]));
  };
  clock.laid = lay_rows(clock.dates, line_of, time.style, table.source, config);
  return clock;
}

void require_shared(const io::CsvTable& table, const TableIds& ids, int64_t cells) {
  const auto maximum =
      static_cast<int64_t>(2 * std::filesystem::file_size(table.source) + (size_t{64} << 20)) / 8;
  require(cells <= maximum, ErrorKind::data,
          "{}: its {} series share too few dates: pivoted they would have {} cells for {} rows", table.source,
          ids.labels.size(), cells, table.rows);
}

}  // namespace

std::optional<TableIds> find_ids(const io::CsvTable& table, const TableTime& time,
                                 const ForecastDataConfig& config) {
  if (config.id == std::vector<std::string>{"none"}) return std::nullopt;
  std::optional<TableIds> ids =
      config.id.empty() ? found_ids(table, time, config) : ids_of(table, asked_for(table, config));
  if (!ids) return ids;
  require(!time.columns.empty(), ErrorKind::data,
          "{}: data.id needs rows with dates, but no column holds dates", table.source);
  require(config.follows || static_cast<int64_t>(ids->labels.size()) < table.rows, ErrorKind::data,
          "{}: each of the {} rows is its own series with {} as series id; data.id = none reads one series",
          table.source, table.rows, table.columns[ids->columns[0]].name);
  return ids;
}

Series lay_side_by_side(io::CsvTable table, const TableTime& time, const TableIds& ids,
                        const std::vector<size_t>& values, const ForecastDataConfig& config) {
  const Clock clock = shared_clock(table, time, config);
  const auto count = std::ssize(ids.labels), width = std::ssize(values), length = clock.laid.axis.length;
  require_shared(table, ids, length * count * width);
  std::vector<int64_t> cell(ids.of_row.size());  // of each row: (date, series)
  std::vector<bool> filled(static_cast<size_t>(length * count));
  for (size_t row = 0; row < cell.size(); ++row) {
    const int64_t at = clock.row_of(time.dates[row]) * count + ids.of_row[row];
    if (filled[static_cast<size_t>(at)] && config.resample.empty())
      fail(ErrorKind::data,
           "{}:{}: series '{}' has a second row for {}: set data.id to all series id columns", table.source,
           TableLines(table)(static_cast<int64_t>(row)), ids.labels[static_cast<size_t>(ids.of_row[row])],
           io::format_date_time(time.dates[row], time.style));
    filled[static_cast<size_t>(at)] = true;
    cell[row] = at;
  }
  Series series;
  std::vector<int64_t> shape = {length, count};
  if (width > 1) shape.push_back(width);
  series.values = at::full(shape, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  double* out = series.values.mutable_data_ptr<double>();
  LongLayout layout{{}, ids.cells, {}};
  for (const size_t column : ids.columns) layout.id.push_back(table.columns[column].name);
  for (int64_t i = 0; i < width; ++i) {
    io::CsvColumn& column = table.columns[values[static_cast<size_t>(i)]];
    layout.values.push_back(column.name);
    place_numbers(column.numbers, time, cell, config, out + i, width);
    std::vector<double>().swap(column.numbers);  // freed early: files may be large
  }
  const std::string id = fmt::format("{}", fmt::join(layout.id, "/"));
  series.modes = {{id, ids.labels, false}};
  if (width > 1) series.modes.push_back({"variable", layout.values, false});
  series.time = clock.laid.axis;
  series.time_columns = time_columns(table, time);
  series.notes = clock.laid.notes;
  series.notes.insert(series.notes.begin(),
                      fmt::format("a long table of {} series with the id '{}'", count, id));
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
