#include "modewise/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "modewise/core/error.h"
#include "modewise/report/csv_cell.h"
#include "modewise/report/markup.h"

namespace modewise::report {
namespace {

std::string number_text(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals)
         : std::isnan(value)  ? "–"
         : value > 0          ? "∞"
                              : "−∞";
}

std::string padded(const std::string& text, int width, bool right) {
  const std::string space(static_cast<size_t>(std::max(0, width - display_width(text))), ' ');
  return right ? space + text : text + space;
}

std::string repeated(std::string_view piece, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += piece;
  return out;
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\|*_`<>[]").find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string csv_number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

}  // namespace

Cell Cell::mean_sd(double mean, std::optional<double> stddev, int decimals) {
  Cell cell(mean, decimals);
  cell.stddev_ = stddev;
  return cell;
}

Cell Cell::count(int64_t value) {
  std::string digits =
      fmt::format("{}", value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return number(static_cast<double>(value), value < 0 ? "-" + digits : digits);
}

Cell Cell::number(double value, std::string text) {
  Cell cell(value);
  cell.text_ = std::move(text);
  return cell;
}

Cell Cell::within(std::string group) && {
  group_ = std::move(group);
  return std::move(*this);
}

std::string Cell::text() const {
  if (!value_ || !text_.empty()) return printable(text_);
  std::string out = number_text(*value_, decimals_);
  if (stddev_ && std::isfinite(*value_)) out += " ± " + number_text(*stddev_, decimals_);
  return out;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  require(!columns_.empty(), ErrorKind::usage, "a table needs at least one column");
}

void Table::add_row(std::vector<Cell> cells) {
  require(cells.size() == columns_.size(), ErrorKind::usage, "a row of this table must have {} cells, got {}",
          columns_.size(), cells.size());
  rows_.push_back({std::move(cells), rule_pending_});
  rule_pending_ = false;
}

void Table::add_rule() {
  rule_pending_ = !rows_.empty();
}

std::vector<std::vector<bool>> Table::best() const {
  std::vector<std::vector<bool>> marks(rows_.size(), std::vector<bool>(columns_.size(), false));
  for (size_t begin = 0; begin < rows_.size();) {
    size_t end = begin + 1;
    while (end < rows_.size() && !(best_by_group && rows_[end].rule_above)) ++end;
    for (size_t column = 0; column < columns_.size(); ++column) {
      if (columns_[column].best == Column::Best::none) continue;
      std::map<std::string, std::vector<size_t>> groups;  // rows with numbers
      for (size_t row = begin; row < end; ++row) {
        const Cell& cell = rows_[row].cells[column];
        if (cell.is_number() && !std::isnan(*cell.value())) groups[cell.group()].push_back(row);
      }
      for (const auto& [group, rows] : groups)
        if (rows.size() > 1)  // a single number is not best
          for (const size_t row : best_of(rows, column)) marks[row][column] = true;
    }
    begin = end;
  }
  return marks;
}

std::vector<size_t> Table::best_of(const std::vector<size_t>& rows, size_t column) const {
  const double sign = columns_[column].best == Column::Best::lowest ? 1 : -1;
  const auto cell_in = [&](size_t row) -> const Cell& { return rows_[row].cells[column]; };
  const Cell& winner = cell_in(*std::min_element(rows.begin(), rows.end(), [&](size_t a, size_t b) {
    return sign * *cell_in(a).value() < sign * *cell_in(b).value();
  }));
  const std::string shown = number_text(*winner.value(), winner.decimals());
  std::vector<size_t> best;
  for (const size_t row : rows) {
    const Cell& cell = cell_in(row);
    // Values that print the same are equal: the mark must not depend on hidden digits.
    if (*cell.value() == *winner.value() ||
        (cell.shows_decimals() && number_text(*cell.value(), cell.decimals()) == shown))
      best.push_back(row);
  }
  return best;
}

std::vector<bool> Table::number_columns() const {
  std::vector<bool> numbers(columns_.size(), false);
  for (size_t column = 0; column < columns_.size(); ++column)
    for (const Row& row : rows_)
      if (row.cells[column].is_number()) numbers[column] = true;
  return numbers;
}

std::string Table::to_text(bool color) const {
  const auto marks = best();
  const auto numbers = number_columns();
  std::vector<int> widths;
  std::vector<bool> starred(columns_.size(), false);
  for (size_t column = 0; column < columns_.size(); ++column) {
    int width = display_width(printable(columns_[column].name));
    for (size_t row = 0; row < rows_.size(); ++row) {
      starred[column] = starred[column] || marks[row][column];
      width = std::max(width, display_width(rows_[row].cells[column].text()));
    }
    widths.push_back(width);
  }
  const auto finish = [](std::string line) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line + "\n";
  };
  std::string header, rule;
  for (size_t column = 0; column < columns_.size(); ++column) {
    const std::string gap = column == 0 ? "" : "  ";
    header += gap + padded(printable(columns_[column].name), widths[column], numbers[column]) +
              (starred[column] ? " " : "");
    rule += gap + repeated("─", widths[column]) + (starred[column] ? " " : "");
  }
  std::string out = finish(header) + finish(rule);
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].rule_above) out += finish(rule);
    std::string line;
    for (size_t column = 0; column < columns_.size(); ++column) {
      std::string text = padded(rows_[row].cells[column].text(), widths[column], numbers[column]);
      if (starred[column]) text += marks[row][column] ? "*" : " ";
      if (color && marks[row][column]) text = "\x1b[1m" + text + "\x1b[0m";
      line += (column == 0 ? "" : "  ") + text;
    }
    out += finish(line);
  }
  return out;
}

std::string Table::to_markdown() const {
  const auto marks = best();
  const auto numbers = number_columns();
  std::string out = "|", rule = "|";
  for (size_t column = 0; column < columns_.size(); ++column) {
    out += " " + markdown_text(columns_[column].name) + " |";
    rule += numbers[column] ? "---:|" : "---|";
  }
  out += "\n" + rule + "\n";
  for (size_t row = 0; row < rows_.size(); ++row) {
    out += "|";
    for (size_t column = 0; column < columns_.size(); ++column) {
      const std::string text = markdown_text(rows_[row].cells[column].text());
      out += marks[row][column] ? " **" + text + "** |" : " " + text + " |";
    }
    out += "\n";
  }
  return out;
}

std::string Table::to_csv() const {
  std::vector<bool> stddevs(columns_.size(), false);
  for (const Row& row : rows_)
    for (size_t column = 0; column < columns_.size(); ++column)
      if (row.cells[column].stddev()) stddevs[column] = true;
  std::string out;
  for (size_t column = 0; column < columns_.size(); ++column) {
    out += (column == 0 ? "" : ",") + csv_cell(columns_[column].name);
    if (stddevs[column]) out += "," + csv_cell(columns_[column].name + " sd");
  }
  out += "\n";
  for (const Row& row : rows_) {
    for (size_t column = 0; column < columns_.size(); ++column) {
      const Cell& cell = row.cells[column];
      out += (column == 0 ? "" : ",") + (cell.is_number() ? csv_number(cell.value()) : csv_cell(cell.text()));
      if (stddevs[column]) out += "," + csv_number(cell.stddev());
    }
    out += "\n";
  }
  return out;
}

std::string Table::to_html() const {
  const auto marks = best();
  const auto numbers = number_columns();
  std::string out = "<table>\n<thead><tr>";
  for (size_t column = 0; column < columns_.size(); ++column)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", numbers[column] ? " class=\"n\"" : "",
                       escape_markup(columns_[column].name));
  out += "</tr></thead>\n<tbody>\n";
  for (size_t row = 0; row < rows_.size(); ++row) {
    out += rows_[row].rule_above ? "<tr class=\"rule\">" : "<tr>";
    for (size_t column = 0; column < columns_.size(); ++column) {
      const std::string text = escape_markup(rows_[row].cells[column].text());
      out += fmt::format("<td{}>{}</td>", numbers[column] ? " class=\"n\"" : "",
                         marks[row][column] ? "<strong>" + text + "</strong>" : text);
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n";
}

}  // namespace modewise::report
