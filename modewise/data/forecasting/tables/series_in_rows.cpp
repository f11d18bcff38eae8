#include "modewise/data/forecasting/tables/series_in_rows.h"

#include <ATen/ops/full.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/forecasting/sources.h"
#include "modewise/data/forecasting/tables/table_rows.h"
#include "modewise/data/forecasting/tables/value_columns.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/csv_dialect.h"
#include "modewise/io/tables/csv_scanner.h"
#include "modewise/io/tables/date_column.h"
#include "modewise/io/tables/month_names.h"
#include "modewise/io/tables/written_number.h"
#include "modewise/io/text_input.h"

namespace modewise::data {
namespace {

constexpr size_t kMinDates = 3, kMinYears = 4, kMinNumbered = 6, kMaxBehind = 3;

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The year of a name such as 1960 or 1960 [YR1960]; 0: none.
int64_t year_of(std::string_view text) {
  if (const size_t space = text.find(' '); space != std::string_view::npos) text = text.substr(0, space);
  if (text.size() != 4 || !is_digits(text)) return 0;
  const int64_t year = std::stoll(std::string(text));
  return year >= 1500 && year <= 2200 ? year : 0;
}

/// Dates of a header.
struct HeaderDates {
  size_t first = 0, end = 0;  // columns
  std::vector<int64_t> dates;
  io::DateStyle style;
  bool years = false;
};

/// Years in a header that end before column `end`.
std::optional<HeaderDates> years_of_header(const std::vector<std::string>& names, size_t end) {
  HeaderDates found;
  found.end = end;
  found.years = true;
  found.style.has_day = false;
  found.style.clock = io::DateStyle::no_clock;
  found.first = end;
  while (found.first > 0 && year_of(names[found.first - 1]) != 0) --found.first;
  if (found.first == 0 || end - found.first < kMinYears) return std::nullopt;
  for (size_t i = found.first; i < end; ++i)
    found.dates.push_back(io::to_seconds({year_of(names[i]), 1, 1, 0, 0, 0}));
  return found;
}

/// Dates in a header that end before column `end`.
std::optional<HeaderDates> dates_of_header(const std::vector<std::string>& names, size_t end) {
  HeaderDates found;
  found.first = found.end = end;
  while (found.first > 0 && io::read_date_time(names[found.first - 1])) --found.first;
  if (found.first == 0 || end - found.first < kMinDates) return years_of_header(names, end);
  io::DateColumn column;
  for (size_t i = found.first; i < end; ++i)
    if (!column.add(names[i])) return std::nullopt;
  if (!column.decide()) return std::nullopt;
  found.style = column.style();
  found.dates = column.take_dates();
  return found;
}

/// The dates of a header; at most kMaxBehind other columns, such as a total, are behind them.
std::optional<HeaderDates> dates_of_header(const std::vector<std::string>& names) {
  for (size_t behind = 0; behind <= kMaxBehind && behind < names.size(); ++behind) {
    std::optional<HeaderDates> found = dates_of_header(names, names.size() - behind);
    if (!found) continue;
    const std::vector<int64_t>& dates = found->dates;
    for (size_t i = 1; i < dates.size(); ++i)
      if (dates[i] == dates[i - 1] || (dates[i] > dates[i - 1]) != (dates[1] > dates[0])) return std::nullopt;
    return found;
  }
  return std::nullopt;
}

/// The first two rows of a file.
struct Beginning {
  std::vector<std::string> header, below;
};

Beginning beginning_of(const std::string& path, const io::CsvOptions& options) {
  const io::MappedFile file(path);
  const io::TextInput input(file.bytes(), path);
  const io::CsvDialect dialect = io::guess_dialect(input.text(), path, options);
  io::CsvScanner scanner(input.text(), dialect.delimiter, path);
  scanner.leave_out(dialect.left_out);
  Beginning rows;
  scanner.row([&](size_t, std::string_view cell) { rows.header.emplace_back(io::strip_spaces(cell)); });
  scanner.row([&](size_t, std::string_view cell) { rows.below.emplace_back(io::strip_spaces(cell)); });
  if (!rows.header.empty() && rows.header.back().empty()) rows.header.pop_back();  // of a trailing delimiter
  return rows;
}

std::optional<HeaderDates> dated_header(const std::string& path, const io::CsvOptions& options) {
  if (options.header == io::CsvOptions::no || options.header_rows > 1) return std::nullopt;
  const Beginning rows = beginning_of(path, options);
  std::optional<HeaderDates> found = dates_of_header(rows.header);
  if (!found || rows.below.size() < found->first) return std::nullopt;
  for (size_t i = 0; i < found->first; ++i)
    if (io::read_date_time(rows.below[i])) return std::nullopt;  // a table of dated rows
  return found;
}

bool has_names(const std::string& path, const io::CsvOptions& options) {
  if (options.header != io::CsvOptions::guess) return options.header == io::CsvOptions::yes;
  const io::MappedFile file(path);
  const io::CsvHeader header = io::guess_csv_header(file.bytes(), path, options);
  return header.names || !header.suspect_row.empty();
}

size_t leading_texts(const io::CsvTable& table) {
  size_t count = 0;
  while (count < table.columns.size() && table.columns[count].kind == io::CsvColumn::text) ++count;
  return count;
}

/// Column where a run of names such as V2, V3 … to the end begins.
size_t first_numbered(const std::vector<std::string>& names) {
  const auto parts = [](std::string_view name) {
    size_t at = name.size();
    while (at > 0 && std::isdigit(static_cast<unsigned char>(name[at - 1])) != 0) --at;
    const std::string_view digits = name.substr(at);
    return std::pair(name.substr(0, at), digits.empty() || digits.size() > 9
                                             ? int64_t{-1}
                                             : static_cast<int64_t>(std::stoll(std::string(digits))));
  };
  size_t first = names.size();
  while (first > 0) {
    const auto [prefix, number] = parts(names[first - 1]);
    if (prefix.empty() || number < 0) break;
    if (first < names.size()) {
      const auto [next_prefix, next] = parts(names[first]);
      if (prefix != next_prefix || number + 1 != next) break;
    }
    --first;
  }
  return first;
}

std::vector<std::string> column_names(const io::CsvTable& table) {
  std::vector<std::string> names;
  for (const io::CsvColumn& column : table.columns) names.push_back(column.name);
  return names;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,+-eE") == std::string_view::npos;
}

/// Labels of the rows from some columns of texts, joined by "/" without empty cells.
std::vector<std::string> labels_of(const io::CsvTable& table, const std::vector<size_t>& columns) {
  std::vector<std::string> labels;
  for (size_t row = 0; row < static_cast<size_t>(table.rows); ++row) {
    std::vector<std::string_view> cells;
    for (const size_t column : columns)
      if (const std::string_view cell = table.columns[column].texts[row]; !cell.empty())
        cells.push_back(cell);
    labels.push_back(fmt::format("{}", fmt::join(cells, "/")));
  }
  return labels;
}

bool all_differ(const std::vector<std::string>& labels) {
  const std::set<std::string_view> distinct(labels.begin(), labels.end());
  return distinct.size() == labels.size() && !distinct.contains("");
}

/// Id columns among the first `fixed` columns, which hold texts.
std::vector<size_t> id_columns(const io::CsvTable& table, size_t fixed, const ForecastDataConfig& config) {
  std::vector<size_t> columns, words, numbers;
  const std::vector<std::string> names = column_names(table);
  if (!config.id.empty() && config.id[0] != "none") {
    for (const std::string& name : config.id) {
      const auto at = std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(fixed), name);
      require(at - names.begin() < static_cast<std::ptrdiff_t>(fixed), ErrorKind::config,
              "data.id: {} has no column '{}' before its values{}", table.source, name,
              nearest_name_hint(name, names));
      columns.push_back(static_cast<size_t>(at - names.begin()));
    }
    return columns;
  }
  for (size_t i = 0; i < fixed; ++i) {
    const io::TextCells& cells = table.columns[i].texts;
    (std::all_of(cells.begin(), cells.end(), [](auto cell) { return cell.empty() || is_number(cell); })
         ? numbers
         : words)
        .push_back(i);
  }
  for (const size_t column : words)
    if (all_differ(labels_of(table, {column}))) return {column};
  if (!words.empty() && all_differ(labels_of(table, words))) return words;
  for (const size_t column : numbers)
    if (all_differ(labels_of(table, {column}))) return {column};
  return words;
}

/// Rows that end in missing cells end in the last row of the result.
int64_t align_ends(std::vector<double>& numbers) {
  const auto last = std::find_if(numbers.rbegin(), numbers.rend(), [](double x) { return !std::isnan(x); });
  const auto shift = last == numbers.rend() ? 0 : last - numbers.rbegin();
  std::rotate(numbers.begin(), numbers.end() - shift, numbers.end());
  return shift;
}

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// A table whose rows are series.
struct RowTable {
  io::CsvTable table;
  std::optional<HeaderDates> dated;
  size_t fixed = 0;         // columns of texts before the values
  size_t end = 0;           // the first column behind the values
  std::vector<size_t> ids;  // those that label a row

  int64_t steps() const { return static_cast<int64_t>(end) - static_cast<int64_t>(fixed); }
  std::vector<double> values(size_t row) const {
    std::vector<double> numbers;
    for (size_t i = fixed; i < end; ++i)
      numbers.push_back(table.columns[i].kind == io::CsvColumn::number ? table.columns[i].numbers[row]
                                                                       : kNoNumber);
    return numbers;
  }
};

/// Columns before the values in a table with a header without dates.
size_t fixed_columns(const std::string& path, const io::CsvOptions& options) {
  const std::vector<std::string> header = beginning_of(path, options).header;
  const size_t fixed = std::max<size_t>(first_numbered(header), 1);  // V1 holds the ids
  return header.size() < fixed + kMinDates ? leading_texts(io::read_csv(path, options)) : fixed;
}

RowTable read_row_table(const ForecastDataConfig& config, const io::CsvOptions& asked) {
  RowTable rows;
  rows.dated = dated_header(config.path, asked);
  io::CsvOptions options = asked;
  const bool named = rows.dated || has_names(config.path, asked);
  options.header = named ? io::CsvOptions::yes : io::CsvOptions::no;
  rows.fixed = rows.dated ? rows.dated->first
               : named    ? fixed_columns(config.path, options)
                          : leading_texts(io::read_csv(config.path, options));
  const std::vector<std::string> header = named ? beginning_of(config.path, options).header
                                                : numbered_labels(static_cast<int64_t>(rows.fixed), 1);
  const std::set<std::string> texts(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(rows.fixed));
  options.is_text = [&](std::string_view name) {
    return texts.contains(std::string(name)) || (name.starts_with("column ") && texts.contains(""));
  };
  rows.table = io::read_csv(config.path, options);
  rows.end = rows.dated ? rows.dated->end : rows.table.columns.size();
  rows.ids = id_columns(rows.table, rows.fixed, config);
  return rows;
}

std::vector<std::string> different_labels(const RowTable& rows) {
  std::vector<std::string> labels =
      rows.ids.empty() ? numbered_labels(rows.table.rows, 1) : labels_of(rows.table, rows.ids);
  for (std::set<std::string_view> seen; const std::string& label : labels)
    require(seen.insert(label).second && !label.empty(), ErrorKind::data,
            "{}: the series are its rows, but {}; data.id names the columns that identify a row",
            rows.table.source,
            label.empty() ? "one has an empty label" : fmt::format("'{}' labels two of them", label));
  return labels;
}

/// Two steps or more, of numbers or missing cells.
void require_values(const RowTable& rows) {
  const io::CsvTable& table = rows.table;
  require(rows.steps() >= 2, ErrorKind::data, "{}: expected rows of at least 2 values after {} of texts",
          table.source, counted(rows.fixed, "column"));
  for (size_t i = rows.fixed; i < rows.end; ++i) {
    const io::CsvColumn& column = table.columns[i];
    require(column.kind == io::CsvColumn::number ||
                (column.kind == io::CsvColumn::text &&
                 std::all_of(column.texts.begin(), column.texts.end(),
                             [](auto cell) { return cell.empty() || io::is_missing_mark(cell); })),
            ErrorKind::data, "{}: the series are its rows, but column '{}' holds {}", table.source,
            column.name, column.kind == io::CsvColumn::date ? "dates" : "text");
  }
}

/// The names of the columns that label a row.
std::string label_name(const RowTable& rows) {
  std::vector<std::string_view> names;
  for (const size_t id : rows.ids) names.push_back(rows.table.columns[id].name);
  return names.empty() ? "series" : fmt::format("{}", fmt::join(names, "/"));
}

/// `shifted`: series that end before the last column.
std::vector<std::string> notes_of(const RowTable& rows, int64_t shifted) {
  std::vector<std::string> notes = {fmt::format(
      "the series are the rows, {} from '{}' on; data.orient = columns reads columns as variables",
      rows.dated ? "at the dates of the header" : "with a value in each column",
      rows.table.columns[rows.fixed].name)};
  if (shifted > 0)
    notes.push_back(
        fmt::format("{} series end{} before the last column and {} read as ending with the others", shifted,
                    shifted == 1 ? "s" : "", shifted == 1 ? "is" : "are"));
  std::vector<std::string> unused;
  for (size_t i = 0; i < rows.fixed; ++i)
    if (std::find(rows.ids.begin(), rows.ids.end(), i) == rows.ids.end())
      unused.push_back("'" + rows.table.columns[i].name + "'");
  if (rows.end < rows.table.columns.size()) {
    std::vector<std::string> behind;
    for (size_t i = rows.end; i < rows.table.columns.size(); ++i)
      behind.push_back("'" + rows.table.columns[i].name + "'");
    notes.push_back(fmt::format("column{} {} behind the dates {} dropped", behind.size() == 1 ? "" : "s",
                                fmt::join(behind, ", "), behind.size() == 1 ? "is" : "are"));
  }
  const bool one = unused.size() == 1;
  if (!unused.empty())
    notes.push_back(fmt::format("column{} {} {} one value for each series and {} dropped", one ? "" : "s",
                                fmt::join(unused, ", "), one ? "holds" : "hold", one ? "is" : "are"));
  return notes;
}

/// `shifts`: by how many steps the chosen rows end early; `laid`: as DatedRows::rows.
Place place_of(const RowTable& rows, std::vector<size_t> chosen, std::vector<int64_t> shifts,
               std::vector<int64_t> laid) {
  std::vector<std::string> columns;
  for (size_t i = rows.fixed; i < rows.end; ++i) columns.push_back(rows.table.columns[i].name);
  return [lines = TableLines(rows.table), chosen = std::move(chosen), shifts = std::move(shifts),
          laid = std::move(laid), columns = std::move(columns)](int64_t row, int64_t index) {
    if (!laid.empty()) row = std::find(laid.begin(), laid.end(), row) - laid.begin();
    row -= shifts[static_cast<size_t>(index)];
    return fmt::format("{}:{}: column '{}'", lines.path(),
                       lines(static_cast<int64_t>(chosen[static_cast<size_t>(index)])),
                       columns[static_cast<size_t>(row)]);
  };
}

}  // namespace

bool has_dates_in_header(const std::string& path, const io::CsvOptions& options) {
  return dated_header(path, options).has_value();
}

bool has_series_in_rows(const ForecastDataConfig& config, const io::CsvOptions& options) {
  if (config.orient != "auto") return config.orient == "rows";
  return !names_time(config) && config.categories.empty() && has_dates_in_header(config.path, options);
}

Series read_series_in_rows(const ForecastDataConfig& config, const io::CsvOptions& asked) {
  const RowTable rows = read_row_table(config, asked);
  const io::CsvTable& table = rows.table;
  const std::vector<std::string> labels = different_labels(rows);
  require_values(rows);
  require(config.orient == "rows" || !rows.dated || !rows.dated->years ||
              !std::all_of(labels.begin(), labels.end(), [](const auto& x) { return io::find_month(x); }),
          ErrorKind::data,
          "{}: its rows are months and its columns years: data.orient = periods reads one series of the "
          "transposed table, with a row for each year; data.orient = rows reads one series for each month",
          table.source);
  Series series;
  DatedRows laid;
  laid.axis.length = rows.steps();
  if (rows.dated) {
    laid = lay_rows(
        rows.dated->dates, [](int64_t) { return 1; }, rows.dated->style, table.source, config);
    if (rows.dated->years) series.time_columns = {{"year"}, true, {}};
  }
  const std::vector<size_t> chosen = chosen_columns(labels, config, table.source);
  const auto count = std::ssize(chosen);
  series.values = at::full({laid.axis.length, count}, kNoNumber, at::kDouble);
  TableTime time;
  if (rows.dated) time.dates = rows.dated->dates;
  std::vector<int64_t> shifts;
  SeriesMode mode{label_name(rows), {}, false};
  for (int64_t i = 0; i < count; ++i) {
    const size_t row = chosen[static_cast<size_t>(i)];
    std::vector<double> numbers = rows.values(row);
    shifts.push_back(rows.dated ? 0 : align_ends(numbers));
    place_numbers(numbers, time, laid.rows, config, {TensorCells(series.values), i, count});
    mode.labels.push_back(labels[row]);
  }
  series.modes = {mode};
  series.time = laid.axis;
  series.header = true;
  series.notes = notes_of(rows, std::ssize(shifts) - std::count(shifts.begin(), shifts.end(), 0));
  series.notes.insert(series.notes.end(), laid.notes.begin(), laid.notes.end());
  series.place = place_of(rows, chosen, std::move(shifts), std::move(laid.rows));
  return series;
}

void require_known_orient(const io::CsvTable& table, const TableTime& time,
                          const ForecastDataConfig& config) {
  if (config.orient != "auto" || table.rows < 2 || !config.columns.empty() || !time.columns.empty()) return;
  const std::vector<std::string> names = column_names(table);
  const size_t first = std::max<size_t>(table.had_header ? first_numbered(names) : leading_texts(table), 1);
  if (names.size() < first + kMinNumbered) return;
  for (size_t i = 0; i < first; ++i) {
    if (table.columns[i].kind != io::CsvColumn::text || !all_differ(labels_of(table, {i}))) continue;
    fail(ErrorKind::data,
         "{}: each row has another text in column '{}' and the values of '{}' to '{}': data.orient = rows if "
         "the rows are the series, data.orient = columns if the columns are the variables",
         table.source, table.columns[i].name, names[first], names.back());
  }
}

}  // namespace modewise::data
