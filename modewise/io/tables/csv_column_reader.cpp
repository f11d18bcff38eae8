#include "modewise/io/tables/csv_column_reader.h"

#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/date_pattern.h"
#include "modewise/io/tables/time_names.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

static_assert(DateColumn::missing == kMissingDate);

/// Whether the text is an integer of at most 15 digits without leading zeros.
bool is_plain_integer(std::string_view text) {
  constexpr size_t kMaxDigits = 15;
  if (text == "0") return true;
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.size() <= kMaxDigits && text[0] != '0' &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

CsvColumnReader::CsvColumnReader(std::string name, CsvColumn::Kind expected, const CsvCells& cells,
                                 size_t rows, bool only_text)
    : cells_(&cells), reserve_(rows), only_text_(only_text) {
  column_.name = std::move(name);
  start(only_text ? CsvColumn::text : expected);
}

void CsvColumnReader::start(CsvColumn::Kind kind) {
  column_.kind = kind;
  column_.numbers = {};
  column_.texts = {};
  date_column_ = DateColumn();
  numbers_ = dates_ = texts_ = marks_ = 0;
  mark_counts_.clear();
  misfit_line_ = misfit_count_ = 0;
  read_as_[kind] = true;
  settled_ = format_ || cells_->plain;
  plain_integers_ = unit_.empty();
  if (!format_) {
    evidence_ = {};
    evidence_.formats = cells_->allowed;
  }
  if (kind == CsvColumn::number) column_.numbers.reserve(reserve_);
  if (kind == CsvColumn::date) date_column_.reserve(reserve_);
  if (kind == CsvColumn::text) column_.texts.reserve(reserve_);
}

void CsvColumnReader::start_again(NumberFormat format) {
  format_ = format;
  start(CsvColumn::number);
}

void CsvColumnReader::add(std::string_view cell, int64_t line) {
  switch (column_.kind) {
    case CsvColumn::number:
      add_number(without_unit(cell), line);
      return;
    case CsvColumn::date:
      if (date_column_.add(cell)) {
        ++dates_;
        return;
      }
      date_column_.add_missing();
      if (!cells_->missing.contains(cell)) note_misfit(cell, line);
      return;
    case CsvColumn::text:
      add_text(cell);
      return;
  }
}

CellKind CsvColumnReader::kind_of_cell(std::string_view cell) const {
  const CellKind kind = kind_of(cell, cells_->decimal, cells_->missing, cells_->plain);
  const bool unit =
      kind == CellKind::number && !cells_->magnitudes && read_written_number(cell).magnitude != 0;
  return unit ? CellKind::text : kind;
}

void CsvColumnReader::add_number(std::string_view cell, int64_t line) {
  double value;
  bool marked;
  const bool plain = parse_number(cell, format_ ? format_->decimal : cells_->decimal, value, marked);
  if (plain || (format_ && parse_written_number(cell, *format_, value))) {
    const bool absent = cells_->missing.contains(value);
    numbers_ += !absent;
    plain_integers_ = plain_integers_ && !absent && is_plain_integer(cell);
    column_.numbers.push_back(absent ? kMissing : value);
    if (marked && !settled_)
      see_plain(cell, line);
    else if (evidence_.percent > 0 && format_ && value != 0 && !absent &&
             cell.find('%') == std::string_view::npos)
      note_misfit(cell, line, "holds percentages, but {} has no percent sign");
    return;
  }
  plain_integers_ = false;
  if (const std::string_view number = cells_->plain ? std::string_view() : without_flag(cell);
      !number.empty() && kind_of(number, cells_->decimal, cells_->missing) != CellKind::text &&
      kind_of(number, cells_->decimal, cells_->missing) != CellKind::date) {
    if (evidence_.flags++ == 0) evidence_.flag = strip_spaces(cell);
    return add_number(number, line);
  }
  column_.numbers.push_back(kMissing);
  switch (kind_of_cell(cell)) {
    case CellKind::missing:
      return;
    case CellKind::mark:
      count_mark(cell, line);
      return;
    case CellKind::number:
      ++numbers_;
      if (!format_) return see_written(cell, line);
      break;
    case CellKind::date:
      ++dates_;
      break;
    case CellKind::text:
      ++texts_;
      break;
  }
  note_misfit(cell, line);
}

void CsvColumnReader::add_text(std::string_view cell) {
  // A series may be named NA, as Namibia is.
  if (only_text_) {
    cell = strip_spaces(cell);
    texts_ += !cell.empty();
    if (!column_.texts.push_back(cell)) too_long_ = true;
    return;
  }
  switch (kind_of_cell(cell)) {
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
    case CellKind::mark:
      ++marks_;
      break;
  }
  if (!column_.texts.push_back(strip_spaces(cell))) too_long_ = true;
}

void CsvColumnReader::count_mark(std::string_view cell, int64_t line) {
  ++marks_;
  cell = strip_spaces(cell);
  // In accounts a dash is a zero.
  if ((evidence_.accounting > 0 || !evidence_.currency.empty()) && cell == "-")
    return note_misfit(cell, line,
                       "holds amounts of money, where {} can be 0 or a missing value: data.missing_texts = - "
                       "reads it as missing, 0 in its place as 0");
  const auto known = std::find_if(mark_counts_.begin(), mark_counts_.end(),
                                  [&](const auto& mark) { return mark.first == cell; });
  if (known == mark_counts_.end())
    mark_counts_.emplace_back(cell, 1);
  else
    ++known->second;
}

void CsvColumnReader::see_plain(std::string_view cell, int64_t line) {
  const char decimal = cells_->decimal;
  const FormatSet fitting = formats_with_decimal(decimal);
  evidence_.marked = true;
  if (!could_group(cell, cell.find(decimal))) return narrow(fitting, cell, line);
  if (evidence_.open_line == 0) {
    evidence_.open = cell;
    evidence_.open_line = line;
  }
  narrow(fitting | formats_with_thousands(decimal), cell, line);
}

void CsvColumnReader::see_written(std::string_view cell, int64_t line) {
  const WrittenNumber number = read_written_number(cell);
  ++evidence_.written;
  evidence_.marked = evidence_.marked || number.marked;
  evidence_.percent += number.percent;
  evidence_.magnitude += number.magnitude != 0;
  evidence_.accounting += number.accounting;
  evidence_.trailing_minus += number.trailing_minus;
  evidence_.unicode_minus += number.unicode_minus;
  if (!number.currency.empty()) {
    if (!evidence_.currency.empty() && evidence_.currency != number.currency)
      return note_misfit(cell, line, "holds more than one currency: {} is in another one than above");
    evidence_.currency = number.currency;
  }
  const bool open = number.marked && (number.formats & formats_with_decimal('.')) != 0 &&
                    (number.formats & formats_with_decimal(',')) != 0;
  if (open && evidence_.open_line == 0) {
    evidence_.open = cell;
    evidence_.open_line = line;
  }
  narrow(number.formats, cell, line);
}

void CsvColumnReader::narrow(FormatSet formats, std::string_view cell, int64_t line) {
  const FormatSet rest = evidence_.formats & formats;
  if (rest == 0)
    return note_misfit(cell, line,
                       evidence_.example.empty()
                           ? "holds {}, which data.decimal and data.thousands do not allow"
                           : "holds numbers like " + quote_for_message(evidence_.example) +
                                 ", but {} has other marks; write all numbers of the column alike");
  if (rest != evidence_.formats) evidence_.example = cell;
  evidence_.formats = rest;
  settled_ = evidence_.marked && (rest & ~formats_with_decimal(cells_->decimal)) == 0;
}

void CsvColumnReader::note_misfit(std::string_view cell, int64_t line, std::string why) {
  if (column_.kind == CsvColumn::date) {
    // A date of another form than those in the rows above counts as text.
    ++(kind_of_cell(cell) == CellKind::number ? numbers_ : texts_);
  }
  misfit_count_ += misfit_line_ != 0 && cell.substr(0, 100) == misfit_;
  if (misfit_line_ != 0) return;
  misfit_line_ = line;
  misfit_count_ = 1;
  misfit_ = cell.substr(0, 100);
  misfit_why_ = std::move(why);
}

CsvColumn::Kind CsvColumnReader::majority() const {
  const auto count = [](int64_t cells) { return static_cast<size_t>(cells); };
  return majority_of(count(numbers_), count(dates_), count(texts_), count(marks_));
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
      format_.reset();
      start(kind);
      return Result::read_again;
    }
    return Result::good;
  }
  if (column_.kind == CsvColumn::text) {
    if (cells_->plain || !unit_.empty() || !find_unit()) return Result::good;
    read_as_[CsvColumn::text] = false;
    start(CsvColumn::number);
    return Result::read_again;
  }
  if (misfit_line_ != 0) {
    const bool repeated_hour = column_.kind == CsvColumn::number && names_hours(column_.name);  // 02X
    const bool season = column_.kind == CsvColumn::date && !season_pattern(misfit_).empty();    // 2012/13
    if (!repeated_hour && !season) return Result::misfit;
    start(CsvColumn::text);
    return Result::read_again;
  }
  if (column_.kind == CsvColumn::date) {
    require(date_column_.decide(), ErrorKind::data,
            "{}: column {} mixes dates that can only be month/day with dates that can only be day/month",
            source, quote_for_message(column_.name));
  }
  return Result::good;
}

void CsvColumnReader::fail_misfit(const std::string& source, const std::string& remedy) const {
  const std::string place =
      fmt::format("{}:{}: column {}", source, misfit_line_, quote_for_message(column_.name));
  if (!misfit_why_.empty()) {
    std::string why = misfit_why_;
    fail(ErrorKind::data, "{} {}", place, why.replace(why.find("{}"), 2, quote_for_message(misfit_)));
  }
  const bool numbers = column_.kind == CsvColumn::number;
  fail(ErrorKind::data, "{} holds {}, but {} is {}{}", place,
       numbers ? "numbers" : "dates like " + date_column_.style().text(), quote_for_message(misfit_),
       numbers ? "not a finite number" : "not one", remedy);
}

// Whether all texts are numbers with one unit behind them, and not names such as 250ml that repeat.
bool CsvColumnReader::find_unit() {
  if (time_name(column_.name) != TimeName::none || texts_ < 2) return false;
  std::string_view unit;
  constexpr size_t kMany = 1000;
  std::unordered_set<std::string_view> distinct;
  bool marked = false;
  for (const std::string_view text : column_.texts) {
    if (text.empty() || is_missing_mark(text)) continue;
    const std::string_view own = unit_behind(text);
    if (own.empty() || (!unit.empty() && own != unit)) return false;
    unit = own;
    marked = marked || text.find_first_of(".,") != std::string_view::npos;
    if (distinct.size() < kMany) distinct.insert(text);
  }
  if (unit.empty() || (!marked && distinct.size() < kMany && 3 * std::ssize(distinct) < texts_)) return false;
  unit_ = unit;
  return true;
}

std::string_view CsvColumnReader::without_unit(std::string_view cell) const {
  if (unit_.empty()) return cell;
  const std::string_view text = strip_spaces(cell);
  return text.ends_with(unit_) ? strip_spaces(text.substr(0, text.size() - unit_.size())) : cell;
}

// 20160701 parses as a number; only a column whose name says time has dates of this form.
void CsvColumnReader::become_compact_dates() {
  if (numbers_ == 0 || format_ || time_name(column_.name) == TimeName::none) return;
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
  column_.plain_integers = column_.kind == CsvColumn::number && plain_integers_;
  if (column_.kind == CsvColumn::number)
    column_.unit = !unit_.empty() ? unit_ : evidence_.percent > 0 ? "%" : std::string(evidence_.currency);
  return std::move(column_);
}

}  // namespace modewise::io
