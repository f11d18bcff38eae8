#pragma once
// The times in one column of a table: dates, numbers that mean dates, or text in a given form.

#include <optional>

#include "modewise/data/forecasting/tables/table_time.h"
#include "modewise/io/tables/date_numbers.h"
#include "modewise/io/tables/time_names.h"

namespace modewise::data {

/// Whether numbers rise from row to row.
bool rises(const io::NumberCells& numbers);
/// Whether numbers rise by one difference, up to the rounding of decimals.
bool counts_evenly(const io::NumberCells& numbers);

/// Whether dates have a time of day.
bool has_clock(const io::DateStyle& style);

/// Seasons or fiscal years such as 2001/02 in a column of texts, or of what was read as months 13 months
/// apart; nullopt for other columns. Dated by the first year.
std::optional<TableTime> read_seasons(const io::CsvTable& table, size_t column);

/// The times of a column, or nullopt if it holds none; its name does not matter.
std::optional<TableTime> read_time_column(const io::CsvTable& table, size_t column);

/// The times of a column of numbers, or nullopt. Its name decides which forms are plausible.
std::optional<TableTime> read_time_numbers(const io::CsvTable& table, size_t column);

/// Whether data.time_format is a pattern such as %Y-%m-%d, not the name of a form of numbers.
bool is_pattern(const std::string& format);
/// Refuses a data.time_format that is neither.
void check_format(const ForecastDataConfig& config);

/// The times of a column in the form of data.time_format. `clock`: a column of clock times, whose cells
/// follow after a space in a pattern.
TableTime read_formatted_column(const io::CsvTable& table, size_t column, std::optional<size_t> clock,
                                const ForecastDataConfig& config);

}  // namespace modewise::data
