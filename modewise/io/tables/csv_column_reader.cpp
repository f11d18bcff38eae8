#include "modewise/io/tables/csv_column_reader.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/io/number_text.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

static_assert(DateColumn::missing == kMissingDate);

// 20160701 parses as a number; only a column with a date-like name has dates of this form.
bool names_dates(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  static constexpr std::string_view kNames[] = {"date", "day", "datetime", "timestamp", "time", "ds"};
  return std::find(std::begin(kNames), std::end(kNames), lower) != std::end(kNames);
}

}  // namespace

CsvColumnReader::CsvColumnReader(std::string name, CsvColumn::Kind expected, char decimal,
                                 const MissingValues& missing, size_t rows, bool only_text)
    : decimal_(decimal), missing_(&missing), reserve_(rows), only_text_(only_text) {
  column_.name = std::move(name);
  start(only_text ? CsvColumn::text : expected);
}

void CsvColumnReader::start(CsvColumn::Kind kind) {
  column_.kind = kind;
  column_.numbers = {};
  column_.texts = {};
  date_column_ = {};
  numbers_ = dates_ = texts_ = 0;
  misfit_line_ = 0;
  read_as_[kind] = true;
  if (kind == CsvColumn::number) column_.numbers.reserve(reserve_);
  if (kind == CsvColumn::date) date_column_.reserve(reserve_);
  if (kind == CsvColumn::text) column_.texts.reserve(reserve_);
}

void CsvColumnReader::add(std::string_view cell, int64_t line) {
  double value;
  switch (column_.kind) {
    case CsvColumn::number:
      if (parse_number(cell, decimal_, value)) {
        const bool absent = missing_->contains(value);
        numbers_ += !absent;
        column_.numbers.push_back(absent ? kMissing : value);
        return;
      }
      column_.numbers.push_back(kMissing);
      break;
    case CsvColumn::date:
      if (date_column_.add(cell)) {
        ++dates_;
        return;
      }
      date_column_.add_missing();
      break;
    case CsvColumn::text:
      add_text(cell);
      return;
  }
  if (!missing_->contains(cell)) note_misfit(cell, line);
}

void CsvColumnReader::add_text(std::string_view cell) {
  switch (kind_of(cell, decimal_, *missing_)) {
    case CellKind::missing:
      column_.texts.push_back("");
      return;
    case CellKind::number:
      ++numbers_;
      break;
    case CellKind::date:
      ++dates_;
      break;
    case CellKind::text:
      ++texts_;
      break;
  }
  if (!column_.texts.push_back(strip_spaces(cell))) too_long_ = true;
}

void CsvColumnReader::note_misfit(std::string_view cell, int64_t line) {
  switch (kind_of(cell, decimal_, *missing_)) {
    case CellKind::missing:
      return;
    case CellKind::number:
      ++numbers_;
      break;
    case CellKind::date:
      // In a date column: a date of another form than those in the rows above.
      ++(column_.kind == CsvColumn::date ? texts_ : dates_);
      break;
    case CellKind::text:
      ++texts_;
      break;
  }
  if (misfit_line_ != 0) return;
  misfit_line_ = line;
  misfit_ = cell.substr(0, 100);
}

CsvColumn::Kind CsvColumnReader::majority() const {
  const int64_t filled = numbers_ + dates_ + texts_;
  if (2 * numbers_ >= filled) return CsvColumn::number;
  return 2 * dates_ >= filled ? CsvColumn::date : CsvColumn::text;
}

CsvColumnReader::Result CsvColumnReader::finish(const std::string& source) {
  if (too_long_) {
    fail(ErrorKind::data, "{}: column {} holds more than 4 GiB of text", source,
         quote_for_message(column_.name));
  }
  if (only_text_) return Result::good;
  if (CsvColumn::Kind kind = majority(); kind != column_.kind) {
    // Date counts of a column that was read as another kind can be wrong; on the second read text is final.
    if (read_as_[kind]) kind = CsvColumn::text;
    if (kind != column_.kind) {
      start(kind);
      return Result::read_again;
    }
    return Result::good;
  }
  if (column_.kind == CsvColumn::text) return Result::good;
  if (misfit_line_ != 0) {
    const bool numbers = column_.kind == CsvColumn::number;
    fail(ErrorKind::data, "{}:{}: column {} holds {}, but {} is {}", source, misfit_line_,
         quote_for_message(column_.name), numbers ? "numbers" : "dates like " + date_column_.style().text(),
         quote_for_message(misfit_), numbers ? "not a finite number" : "not one");
  }
  if (column_.kind == CsvColumn::date) {
    require(date_column_.decide(), ErrorKind::data,
            "{}: column {} mixes dates that can only be month/day with dates that can only be day/month",
            source, quote_for_message(column_.name));
  }
  return Result::good;
}

void CsvColumnReader::become_compact_dates() {
  if (numbers_ == 0 || !names_dates(column_.name)) return;
  DateColumn dates;
  dates.reserve(column_.numbers.size());
  for (const double number : column_.numbers) {
    if (std::isnan(number)) {
      dates.add_missing();
    } else if (number < 10'000'101 || number > 99'991'231 || number != std::floor(number) ||
               !dates.add(std::to_string(static_cast<int64_t>(number)))) {
      return;
    }
  }
  column_.kind = CsvColumn::date;
  column_.numbers = {};
  date_column_ = std::move(dates);
}

CsvColumn CsvColumnReader::take() {
  if (column_.kind == CsvColumn::number) become_compact_dates();
  if (column_.kind == CsvColumn::date) {
    column_.date_style = date_column_.style();
    column_.dates = date_column_.take_dates();
  }
  return std::move(column_);
}

}  // namespace modewise::io
