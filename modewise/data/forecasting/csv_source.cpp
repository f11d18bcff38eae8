#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "modewise/core/error.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/forecasting/categories.h"
#include "modewise/data/forecasting/long_table.h"
#include "modewise/data/forecasting/sources.h"
#include "modewise/data/forecasting/table_time.h"
#include "modewise/io/tables/csv.h"

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

io::CsvOptions csv_options(const ForecastDataConfig& config) {
  io::CsvOptions options;
  if (config.delimiter == "tab")
    options.delimiter = '\t';
  else if (!config.delimiter.empty()) {
    require(config.delimiter.size() == 1, ErrorKind::config,
            "data.delimiter: expected one character or the word tab, got '{}'", config.delimiter);
    options.delimiter = config.delimiter[0];
  }
  if (config.decimal != "auto") options.decimal = config.decimal[0];
  if (!config.usual_decimal.empty()) options.usual_decimal = config.usual_decimal[0];
  if (config.thousands != "auto")
    options.thousands = config.thousands == "none"    ? '\0'
                        : config.thousands == "space" ? ' '
                                                      : config.thousands[0];
  require(!options.thousands || *options.thousands != config.decimal[0], ErrorKind::config,
          "data.thousands and data.decimal are both '{}'", config.decimal);
  for (const std::string& lines : config.skip_lines) options.skip_lines.push_back(line_range(lines));
  if (config.header != "auto")
    options.header = config.header == "yes" ? io::CsvOptions::yes : io::CsvOptions::no;
  options.missing.insert(options.missing.end(), config.missing_texts.begin(), config.missing_texts.end());
  options.is_text = time_texts(config);
  return options;
}

/// `rows`: as in DatedRows.
Place place_of(const io::CsvTable& table, std::vector<int64_t> rows, std::vector<std::string> names) {
  return [lines = TableLines(table), rows = std::move(rows), names = std::move(names)](int64_t row,
                                                                                       int64_t variable) {
    if (!rows.empty()) row = std::lower_bound(rows.begin(), rows.end(), row) - rows.begin();
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

/// Whether a column is a row index, such as Beijing's "No" or a data frame's unnamed index: by its name, and
/// counting by 1 from 0 or 1.
bool counts_rows(const io::CsvColumn& column) {
  static const std::array<std::string_view, 11> names = {
      "", "no", "nr", "id", "index", "idx", "row", "rowid", "row_id", "unnamed: 0", "#"};
  if (column.kind != io::CsvColumn::number || column.numbers.size() < 2) return false;
  if (std::find(names.begin(), names.end(), lower(column.name)) == names.end()) return false;
  const double first = column.numbers[0];
  if (first != 0 && first != 1) return false;
  for (size_t row = 0; row < column.numbers.size(); ++row)
    if (column.numbers[row] != first + static_cast<double>(row)) return false;
  return true;
}

/// First text of a column with its line, for messages.
std::string first_text(const io::CsvTable& table, const io::CsvColumn& column) {
  for (size_t row = 0; row < column.texts.size(); ++row)
    if (!column.texts[row].empty())
      return fmt::format("'{}' in line {}", column.texts[row], TableLines(table)(static_cast<int64_t>(row)));
  return "nothing";
}

/// Indices of the variable columns; notes explain the others.
std::vector<size_t> variable_columns(const io::CsvTable& table, const std::vector<size_t>& taken,
                                     const ForecastDataConfig& config, Frame& frame) {
  std::vector<std::string> names;
  for (const io::CsvColumn& column : table.columns) names.push_back(column.name);
  std::vector<size_t> variables;
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
        frame.notes.push_back(
            fmt::format("column '{}' holds dates besides the time column and is dropped", column.name));
      else
        frame.warnings.push_back(
            fmt::format("columns '{}' and '{}' both hold dates, the first is the time column: "
                        "data.time = {} selects the other",
                        table.columns[taken[0]].name, column.name, column.name));
      continue;
    } else if (column.kind == io::CsvColumn::text && !empty) {
      const bool constant = std::all_of(column.texts.begin(), column.texts.end(),
                                        [&](const auto& t) { return t == column.texts[0]; });
      if (constant) frame.constant_texts[column.name] = column.texts[0];
      frame.notes.push_back(
          fmt::format("column '{}' holds text and is dropped{}", column.name,
                      constant ? "" : fmt::format("; data.categories = {} one-hot encodes it", column.name)));
      continue;
    } else if (counts_rows(column)) {
      frame.notes.push_back(fmt::format("column '{}' is a row index and is dropped", column.name));
      continue;
    }
    if (empty) frame.notes.push_back(fmt::format("column '{}' has no value in any row", column.name));
    variables.push_back(i);
  }
  require(!variables.empty(), ErrorKind::data, "{}: expected at least one column of numbers, got {}",
          table.source, fmt::join(names, ", "));
  return variables;
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
  for (const std::string& name : like.names) {  // all present: compared above, or named in the config
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

/// A frame with header, time columns and warnings, without values.
Frame described(const io::CsvTable& table, const TableTime& time) {
  Frame frame;
  frame.had_header = table.had_header;
  frame.time_columns = time_columns(table, time);
  frame.notes = table.notes;
  if (table.decimal_proven) frame.decimal = std::string(1, table.decimal);
  if (!table.suspect_row.empty())
    frame.warnings.push_back(header_warning(table.had_header, table.suspect_row));
  for (std::string& warning : date_warnings(time)) frame.warnings.push_back(std::move(warning));
  frame.notes = time.notes;
  for (const io::CsvColumn& column : table.columns) frame.header.push_back(column.name);
  return frame;
}

DatedRows rows_of(const io::CsvTable& table, const TableTime& time, const ForecastDataConfig& config) {
  DatedRows laid;
  laid.axis.length = table.rows;
  require(config.resample.empty() || !time.columns.empty(), ErrorKind::data,
          "{}: data.resample needs dates, but no column holds dates", table.source);
  if (time.columns.empty()) return laid;
  return lay_rows(time.dates, TableLines(table), time.style, table.source, config);
}

/// Shrinks a vector and returns the pages beyond its new end to the system; the rest stays in place.
void shrink_in_place(std::vector<double>& numbers, size_t size) {
  numbers.resize(size);
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = [&](size_t index) { return reinterpret_cast<uintptr_t>(numbers.data() + index); };
  const uintptr_t begin = (address(size) + page - 1) / page * page,
                  end = address(numbers.capacity()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

/// Moves columns into the rows of `out`. Works from the end and gives the memory of moved rows back, so that
/// the numbers of a large file are in memory once.
void move_rows(std::vector<std::vector<double>*> columns, double* out) {
  constexpr size_t kBlock = size_t{1} << 19;  // cells
  const size_t width = columns.size(), step = std::max(kBlock / width, size_t{1});
  for (size_t end = columns[0]->size(); end > 0;) {
    const size_t begin = end - std::min(end, step);
    for (size_t c = 0; c < width; ++c) {
      for (size_t row = begin; row < end; ++row) out[row * width + c] = (*columns[c])[row];
      shrink_in_place(*columns[c], begin);
    }
    end = begin;
  }
  for (std::vector<double>* column : columns) std::vector<double>().swap(*column);
}

/// Adds values and time axis.
void lay_out(Frame& frame, io::CsvTable table, const TableTime& time, const std::vector<size_t>& variables,
             const ForecastDataConfig& config) {
  DatedRows laid = rows_of(table, time, config);
  frame.time = laid.axis;
  frame.notes.insert(frame.notes.end(), laid.notes.begin(), laid.notes.end());
  const auto width = std::ssize(variables);
  std::vector<std::vector<double>*> numbers;
  for (const size_t variable : variables) {
    io::CsvColumn& column = table.columns[variable];
    frame.names.push_back(column.name);
    numbers.push_back(&column.numbers);
    column.numbers.resize(static_cast<size_t>(table.rows), kMissing);  // a column of texts without any text
  }
  if (laid.rows.empty() && config.resample.empty() && frame.time.length == table.rows) {
    frame.values = at::empty({frame.time.length, width}, at::kDouble);
    move_rows(std::move(numbers), frame.values.mutable_data_ptr<double>());
  } else {
    frame.values = at::full({frame.time.length, width}, kMissing, at::kDouble);
    double* values = frame.values.mutable_data_ptr<double>();
    for (int64_t i = 0; i < width; ++i) {
      std::vector<double>& column = *numbers[static_cast<size_t>(i)];
      place_numbers(column, time, laid.rows, config, values + i, width);
      std::vector<double>().swap(column);  // freed early: files may be large
    }
  }
  frame.place = place_of(table, std::move(laid.rows), frame.names);
}

Series long_series(io::CsvTable table, const TableTime& time, const TableIds& ids,
                   const ForecastDataConfig& config) {
  Frame frame = described(table, time);
  std::vector<size_t> taken = time.taken();
  taken.insert(taken.end(), ids.columns.begin(), ids.columns.end());
  const std::vector<size_t> variables = variable_columns(table, taken, config, frame);
  Series series = lay_side_by_side(std::move(table), time, ids, variables, config);
  series.notes.insert(series.notes.end(), frame.notes.begin(), frame.notes.end());
  series.warnings = std::move(frame.warnings);
  series.header = frame.had_header;
  series.decimal = frame.decimal;
  series.categories = config.words;
  return series;
}

}  // namespace

std::vector<size_t> chosen_columns(const std::vector<std::string>& names, const ForecastDataConfig& config,
                                   const std::string& source) {
  const NameIndex places(names);
  const auto position = [&](const std::string& name, const char* option) {
    const auto at = places.find(name);
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

Frame read_frame(const std::string& path, const ForecastDataConfig& asked, const Frame* like,
                 const std::string& like_path) {
  ForecastDataConfig config = asked;
  if (like != nullptr && !like->decimal.empty()) config.usual_decimal = like->decimal;
  io::CsvOptions options = csv_options(config);
  if (like != nullptr) options.header = like->had_header ? io::CsvOptions::yes : io::CsvOptions::no;
  io::CsvTable table = io::read_csv(path, options);
  encode_categories(table, config.words, config);
  const TableTime time = find_time(table, config);
  Frame frame = described(table, time);
  std::vector<size_t> variables = variable_columns(table, time.taken(), config, frame);
  if (like != nullptr) variables = same_variables(table, config, *like, like_path);
  lay_out(frame, std::move(table), time, variables, config);
  return frame;
}

Series read_csv_series(const ForecastDataConfig& asked) {
  ForecastDataConfig config = asked;
  io::CsvTable table = io::read_csv(config.path, csv_options(config));
  if (config.words.empty()) add_words(config.words, table, config);
  encode_categories(table, config.words, config);
  const TableTime time = find_time(table, config);
  if (const std::optional<TableIds> ids = find_ids(table, time, config))
    return long_series(std::move(table), time, *ids, config);
  Frame frame = described(table, time);
  const std::vector<size_t> variables = variable_columns(table, time.taken(), config, frame);
  lay_out(frame, std::move(table), time, variables, config);
  Series series;
  series.values = std::move(frame.values);
  series.modes = {{"variable", std::move(frame.names), false}};
  series.time = frame.time;
  series.time_columns = std::move(frame.time_columns);
  series.notes = std::move(frame.notes);
  series.warnings = std::move(frame.warnings);
  series.header = frame.had_header;
  series.decimal = std::move(frame.decimal);
  series.categories = std::move(config.words);
  series.place = std::move(frame.place);
  return series;
}

}  // namespace modewise::data
