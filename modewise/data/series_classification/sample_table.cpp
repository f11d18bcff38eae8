// Samples as rows of a table: a class and the values of one variable (the UCR archive's .tsv and .txt, CSV).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/label_cells.h"
#include "modewise/data/number_marks.h"
#include "modewise/data/series_classification/long_table.h"
#include "modewise/data/series_classification/sources.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/numeric_text.h"
#include "modewise/io/tables/arff.h"
#include "modewise/io/tables/column_names.h"
#include "modewise/io/tables/csv.h"
#include "modewise/io/tables/ts_file.h"

namespace modewise::data {
namespace {

/// Rows of equally many values, NaN: missing; one class per row, or none.
struct SampleTable {
  int64_t rows = 0, width = 0;
  std::vector<float> values;
  std::vector<int32_t> labels;  // −1: unknown; empty: no classes
  std::vector<std::string> classes;
  std::vector<std::string> index, names, notes, warnings;
  TableForm form;
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

/// Class names, sorted as numbers if all are numbers, else as text.
std::vector<std::string> ordered_classes(std::vector<std::string> classes) {
  std::sort(classes.begin(), classes.end());
  const auto number = [](const std::string& text) {
    double value = 0;
    return std::pair(io::parse_number(text, '.', value), value);
  };
  if (std::all_of(classes.begin(), classes.end(), [&](const auto& text) { return number(text).first; }))
    std::sort(classes.begin(), classes.end(),
              [&](const auto& a, const auto& b) { return number(a).second < number(b).second; });
  return classes;
}

/// Sets labels and classes from each row's class, `of(row)`; "": unknown.
template <class Of>
void set_labels(SampleTable& table, const Of& of) {
  NameIndex found;
  std::vector<std::string> classes;
  table.labels.reserve(static_cast<size_t>(table.rows));
  for (size_t row = 0; row < static_cast<size_t>(table.rows); ++row) {
    const auto name = of(row);
    if (name.empty()) {
      table.labels.push_back(-1);
      continue;
    }
    const auto [place, is_new] = found.add(name);
    if (is_new) classes.emplace_back(name);
    table.labels.push_back(static_cast<int32_t>(place));
  }
  table.classes = ordered_classes(classes);
  const NameIndex places(table.classes);
  std::vector<int32_t> sorted;
  for (const std::string& name : classes) sorted.push_back(static_cast<int32_t>(*places.find(name)));
  for (int32_t& label : table.labels)
    if (label >= 0) label = sorted[static_cast<size_t>(label)];
}

/// The numbers of a column, NaN where missing; nothing if a cell is not a number.
std::optional<io::NumberCells> column_numbers(const io::CsvColumn& column, char decimal) {
  if (column.kind == io::CsvColumn::number) return column.numbers;
  if (column.kind == io::CsvColumn::date) return std::nullopt;
  io::NumberCells numbers;
  for (const std::string_view cell : column.texts) {
    const std::string_view text = cell_text(cell);
    double number = std::nan("");
    if (!text.empty() && !io::parse_number(text, decimal, number)) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

constexpr const char *kNamesClass = "data.label names the class column",
                     *kFirstIsClass =
                         "without a header the first column is the class: leave its cells empty for samples "
                         "without one, or add a header";

/// Numbers that are classes: integers, or few different ones.
void require_class_numbers(const io::NumberCells& numbers, const std::string& path, const std::string& column,
                           const char* advice = kNamesClass) {
  constexpr size_t kFew = 10;
  std::set<double> different;
  bool integers = true;
  for (const double x : numbers) {
    if (std::isnan(x)) continue;
    integers = integers && x == std::floor(x);
    if (different.size() <= numbers.size() / 2) different.insert(x);
  }
  require(
      integers || different.size() <= kFew || different.size() <= numbers.size() / 2, ErrorKind::data,
      "{}: column '{}' must hold classes, but most of its {} numbers are different, such as {}: targets of "
      "regression; {}",
      path, column, numbers.size(), *different.begin(), advice);
}

SampleTable numbers_of(const std::string& path) {
  const io::NumericText text = io::read_numeric_text(path);
  require(text.columns >= 2, ErrorKind::data, "{}: expected a class and values in each row, found one number",
          path);
  SampleTable table;
  table.rows = text.rows;
  table.width = text.columns - 1;
  std::vector<double> classes;
  table.values.reserve(static_cast<size_t>(table.rows * table.width));
  for (int64_t row = 0; row < text.rows; ++row) {
    const auto cells = text.values.begin() + row * text.columns;
    classes.push_back(cells[0]);
    for (int64_t i = 1; i < text.columns; ++i) table.values.push_back(as_float(cells[i], path, row + 1));
  }
  require_class_numbers(classes, path, "1");
  set_labels(table, [&](size_t row) { return std::isnan(classes[row]) ? "" : class_text(classes[row]); });
  return table;
}

bool is_whole(double x) {
  return x == std::floor(x);
}

/// Chooses the class column and the index columns of a table.
class ColumnChoice {
 public:
  /// `steps`: as in TableForm.
  ColumnChoice(const io::CsvTable& table, const std::string& path, const SampleColumns& wanted, bool training,
               int64_t steps)
      : table_(table), path_(path), wanted_(wanted), training_(training), steps_(steps) {
    for (const io::CsvColumn& column : table.columns) names_.push_back(column.name);
    classes = class_column();
    if (wanted.finds_index()) {
      refuse_long_table();
      find_index();
    } else if (wanted.index != std::vector<std::string>{"none"}) {
      for (const std::string& name : wanted.index)
        if (const io::CsvColumn* column = named(name, "data.index")) index.push_back(column);
    }
  }

  const io::CsvColumn* classes = nullptr;  // null: none
  std::vector<const io::CsvColumn*> index;
  bool found_index = false;  // the index columns are a guess

  /// The cells of the first index column that has a name; empty: none, or a cell is missing.
  std::vector<std::string> row_names() const {
    const auto named = std::ranges::find_if(
        index, [&](const io::CsvColumn* column) { return table_.had_header && !is_nameless(*column); });
    if (named == index.end() || (*named)->kind == io::CsvColumn::date) return {};
    std::vector<std::string> names;
    for (size_t row = 0; row < static_cast<size_t>(table_.rows); ++row) {
      names.push_back((*named)->kind == io::CsvColumn::number ? fmt::format("{}", (*named)->numbers[row])
                                                              : std::string(cell_text((*named)->texts[row])));
      if (names.back().empty() || names.back() == "nan") return {};
    }
    return names;
  }

  std::string called(const io::CsvColumn& column) const {
    return is_nameless(column) ? "the column without a name" : fmt::format("column '{}'", column.name);
  }

 private:
  bool is_nameless(const io::CsvColumn& column) const {
    return table_.had_header && column.name == fmt::format("column {}", &column - table_.columns.data() + 1);
  }

  const io::CsvColumn* named(const std::string& name, const char* option) const {
    const io::CsvColumn* column = table_.find(name);
    if (column == nullptr && training_)
      fail(ErrorKind::data, "{}: there is no column '{}' ({}){}; the columns are: {}", path_, name, option,
           nearest_name_hint(name, names_), listed_names(names_));
    return column;
  }

  /// The first column without a header, unless there are as many columns as steps; else the one with such a
  /// name.
  const io::CsvColumn* class_column() const {
    if (wanted_.label != "auto") return named(wanted_.label, "data.label");
    if (!table_.had_header) return std::ssize(table_.columns) == steps_ ? nullptr : &table_.columns[0];
    const io::CsvColumn* found = nullptr;
    for (const io::CsvColumn& column : table_.columns) {
      if (!io::names_a_class(column.name)) continue;
      require(found == nullptr, ErrorKind::data,
              "{}: columns '{}' and '{}' may both be the class; set data.label to one of them, and leave the "
              "other out of the file if it is not a value of the series",
              path_, found == nullptr ? "" : found->name, column.name);
      found = &column;
    }
    return found;
  }

  /// Data error for a table with one row per step.
  void refuse_long_table() const {
    const auto found = find_long_table(table_, classes);
    require(
        !found, ErrorKind::data,
        "{0}: looks like a long table: the ids of column '{1}' repeat, and '{2}' rises within each id, but "
        "each row is read as one sample; pivot it to one row per sample with a column per step, or write a "
        ".ts file; data.index={1},{2} reads each row as a sample",
        path_, found ? found->ids->name : "", found ? found->steps->name : "");
  }

  /// Whether the cells are all different, none missing, and names or integers.
  bool identifies_rows(const io::CsvColumn& column) const {
    NameIndex seen;
    for (const std::string_view cell : column.texts)
      if (const std::string_view text = cell_text(cell); text.empty() || !seen.add(text).second) return false;
    const auto numbers = column_numbers(column, table_.decimal);
    return !numbers || std::all_of(numbers->begin(), numbers->end(), is_whole);
  }
  static bool all_integers(const io::CsvColumn& column) {
    return column.kind == io::CsvColumn::number &&
           std::all_of(column.numbers.begin(), column.numbers.end(),
                       [](double x) { return x == std::floor(x); });  // false for NaN
  }
  static bool all_different(const io::CsvColumn& column) {
    std::vector<double> sorted(column.numbers.begin(), column.numbers.end());
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  }
  static bool counts(const io::CsvColumn& column) {
    for (size_t row = 1; row < column.numbers.size(); ++row)
      if (column.numbers[row] != column.numbers[row - 1] + 1) return false;
    return all_integers(column);
  }

  void find_index() {
    found_index = true;
    std::vector<const io::CsvColumn*> values;
    for (const io::CsvColumn& column : table_.columns) {
      if (&column == classes) continue;
      if (!is_nameless(column) && !(table_.had_header && io::names_an_index(column.name))) {
        values.push_back(&column);
        continue;
      }
      require(
          identifies_rows(column), ErrorKind::data,
          "{}: {} looks like an index of the samples by its name, but its cells are not different integers "
          "or "
          "names; set data.index={} to leave it out, or data.index=none to keep it as a value of the series",
          path_, called(column), column.name);
      index.push_back(&column);
    }
    if (training_) find_nameless_index(values);  // by the training table alone, so that others are read alike
  }

  /// A running number among columns that do not count is an index; different integers among numbers may be
  /// one.
  void find_nameless_index(const std::vector<const io::CsvColumn*>& values) {
    constexpr int64_t kFewRows = 4;  // with fewer, chance looks like an index
    if (!index.empty() || values.size() < 2 || table_.rows < kFewRows) return;
    const io::CsvColumn* whole = nullptr;  // the only column of integers
    for (const io::CsvColumn* column : values) {
      if (column->kind != io::CsvColumn::number || !all_integers(*column)) continue;
      if (whole != nullptr) return;
      whole = column;
    }
    if (whole == nullptr || !all_different(*whole)) return;
    require(counts(*whole), ErrorKind::data,
            "{}: column '{}' has a different integer in each row ({}, {}, …) and may be an index; set "
            "data.index={} to leave it out of the samples, or data.index=none to keep it as a value of the "
            "series",
            path_, whole->name, whole->numbers[0], whole->numbers[1], whole->name);
    index.push_back(whole);
  }

  const io::CsvTable& table_;
  const std::string& path_;
  const SampleColumns& wanted_;
  bool training_;
  int64_t steps_;
  std::vector<std::string> names_;
};

void set_classes(SampleTable& table, const io::CsvColumn& column, char decimal, const std::string& path,
                 const char* advice) {
  if (const auto numbers = column_numbers(column, decimal))
    require_class_numbers(*numbers, path, column.name, advice);
  const ClassNames names(column.texts, decimal);
  set_labels(table, [&](size_t row) { return names.of(column.texts[row]); });
}

/// Whether the first row of a table with text classes has names: one that names a class, or 0, 1, 2, … above
/// fractional numbers.
bool begins_with_names(const io::CsvTable& csv) {
  size_t numbers = 0, texts = 0;
  bool count = csv.rows > 1, integers = true;
  double before = 0;
  for (const io::CsvColumn& column : csv.columns) {
    if (const auto found = column_numbers(column, csv.decimal)) {
      const double first = found->front();
      count = count && is_whole(first) && (numbers == 0 || first == before + 1);
      integers = integers && std::all_of(found->begin(), found->end(), is_whole);
      before = first;
      ++numbers;
    } else if (column.kind == io::CsvColumn::text) {
      ++texts;
      if (io::names_a_class(column.texts[0])) return true;
    }
  }
  return texts > 0 && numbers > 1 && count && !integers;
}

constexpr std::string_view kNameless = "column ";  // and its number

/// Whether a column has classes or an index, whose cells are texts.
bool has_texts(std::string_view name, const SampleColumns& wanted, bool header) {
  const bool is_class = wanted.label != "auto" ? name == wanted.label
                        : header               ? io::names_a_class(name)
                                               : name == "1";
  if (is_class || !wanted.finds_index())
    return is_class || std::find(wanted.index.begin(), wanted.index.end(), name) != wanted.index.end();
  return header && (io::names_an_index(name) || name.starts_with(kNameless));
}

io::CsvOptions csv_options(const SampleColumns& wanted, const TableForm& like) {
  io::CsvOptions options;
  options.series_in_rows = true;
  set_number_marks(options, wanted.marks);
  if (!like.decimal.empty()) options.usual_decimal = like.decimal[0];
  return options;
}

io::CsvTable read_columns(const std::string& path, const SampleColumns& wanted, io::CsvOptions options,
                          int64_t steps, SampleTable& table) {
  const std::string& header = wanted.header;
  const io::MappedFile file(path);
  if (header != "auto") options.header = header == "yes" ? io::CsvOptions::yes : io::CsvOptions::no;
  bool named = io::guess_csv_header(file.bytes(), path, options).names;
  options.is_text = [&](std::string_view name) { return has_texts(name, wanted, named); };
  io::CsvTable csv = io::parse_csv(file.bytes(), path, options);
  if (!csv.had_header && std::ssize(csv.columns) == steps) {  // the first column holds values
    options.is_text = nullptr;
    csv = {};
    csv = io::parse_csv(file.bytes(), path, options);
  }
  if (header != "auto") return csv;
  if (!csv.had_header && begins_with_names(csv)) {
    options.header = io::CsvOptions::yes;
    named = true;
    csv = {};
    return io::parse_csv(file.bytes(), path, options);
  }
  if (!csv.suspect_row.empty())
    table.warnings.push_back(fmt::format("{}: the first row ({}) is taken as {}; data.header sets what it is",
                                         path, csv.suspect_row, csv.had_header ? "names" : "a sample"));
  return csv;
}

/// The columns of the steps, in the order of the training table.
std::vector<const io::CsvColumn*> ordered_steps(std::vector<const io::CsvColumn*> columns,
                                                const TableForm& like, const std::string& path,
                                                SampleTable& table) {
  std::vector<std::string> names;
  for (const io::CsvColumn* column : columns) names.push_back(column->name);
  if (only_count(names)) return columns;
  const std::vector<size_t> order = order_of_steps(names, like, path);
  table.form.columns = order.empty() ? names : like.columns;
  if (order.empty()) return columns;
  table.notes.push_back(path + kMatchedByName);
  std::vector<const io::CsvColumn*> ordered;
  for (const size_t place : order) ordered.push_back(columns[place]);
  return ordered;
}

SampleTable columns_of(const std::string& path, const SampleColumns& wanted, bool training,
                       const TableForm& like) {
  SampleTable table;
  const io::CsvTable csv = read_columns(path, wanted, csv_options(wanted, like), like.steps, table);
  for (const std::string& note : csv.notes) table.notes.push_back(path + ": " + note);
  table.form.decimal = csv.decimal_proven ? std::string(1, csv.decimal) : like.decimal;
  const ColumnChoice choice(csv, path, wanted, training, like.steps);
  table.rows = csv.rows;
  if (choice.classes != nullptr)
    set_classes(table, *choice.classes, csv.decimal, path,
                training || csv.had_header ? kNamesClass : kFirstIsClass);
  for (const io::CsvColumn* column : choice.index) {
    table.index.push_back(column->name);
    if (choice.found_index)
      table.warnings.push_back(
          fmt::format("{}: {} numbers or names the samples and is left out of them "
                      "(data.index=none keeps it as a value)",
                      path, choice.called(*column)));
  }
  table.names = choice.row_names();
  std::vector<const io::CsvColumn*> columns;
  for (const io::CsvColumn& column : csv.columns) {
    if (&column == choice.classes ||
        std::find(choice.index.begin(), choice.index.end(), &column) != choice.index.end())
      continue;
    require(column.kind == io::CsvColumn::number, ErrorKind::data,
            "{}: column '{}' must hold numbers, it holds {}; in a table with a header the class column is "
            "'label', 'class', 'target' or 'y' (or data.label), and data.index leaves columns out",
            path, column.name, column.kind == io::CsvColumn::date ? "dates" : "text");
    columns.push_back(&column);
  }
  require(!columns.empty(), ErrorKind::data, "{}: expected a class and values in each row, found one cell",
          path);
  if (csv.had_header) columns = ordered_steps(std::move(columns), like, path, table);
  table.width = std::ssize(columns);
  table.values.reserve(static_cast<size_t>(table.rows * table.width));
  for (int64_t row = 0; row < csv.rows; ++row)
    for (const io::CsvColumn* column : columns)
      table.values.push_back(as_float(column->numbers[static_cast<size_t>(row)], path, row + 1));
  return table;
}

}  // namespace

RawSamples read_sample_table(const std::string& path, const SampleColumns& columns, bool training,
                             const TableForm& like) {
  const std::filesystem::path file(path);
  SampleTable table =
      lower_extension(file) == ".txt" ? numbers_of(path) : columns_of(path, columns, training, like);
  RawSamples out;
  out.variables = 1;
  out.source = path;
  out.name = file.stem().string();
  out.classes = std::move(table.classes);
  out.index = std::move(table.index);
  out.names = std::move(table.names);
  out.form = std::move(table.form);
  out.notes = std::move(table.notes);
  out.warnings = std::move(table.warnings);
  out.labels = std::move(table.labels);
  const auto unknown = std::find(out.labels.begin(), out.labels.end(), -1);
  if (unknown != out.labels.end() && !out.classes.empty())
    out.unlabelled = fmt::format("{}: sample {}", path, unknown - out.labels.begin() + 1);
  out.labels.resize(static_cast<size_t>(table.rows), -1);
  // Missing values at its end end a series: the values move to the front.
  std::vector<int32_t> lengths;
  lengths.reserve(static_cast<size_t>(table.rows));
  float* end = table.values.data();
  for (int64_t row = 0; row < table.rows; ++row) {
    const float* values = table.values.data() + row * table.width;
    int64_t steps = table.width;
    while (steps > 0 && std::isnan(values[steps - 1])) --steps;
    require(steps > 0, ErrorKind::data, "{}: sample {} has no values", path, row + 1);
    out.missing += std::count_if(values, values + steps, [](float x) { return std::isnan(x); });
    end = std::copy(values, values + steps, end);
    lengths.push_back(static_cast<int32_t>(steps));
  }
  table.values.resize(static_cast<size_t>(end - table.values.data()));
  out.samples = SeriesSamples(1, std::move(table.values), lengths);
  return out;
}

RawSamples read_samples(const std::string& path, const SampleColumns& columns, bool training,
                        const TableForm& like) {
  const std::string ending = lower_extension(path);
  if (ending == ".ts") return samples_of(io::read_ts(path), path);
  if (ending == ".arff") return samples_of(io::read_arff(path), path, like);
  return read_sample_table(path, columns, training, like);
}

}  // namespace modewise::data
