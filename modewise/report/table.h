#pragma once
// Result tables for the terminal (aligned text), Markdown, CSV and HTML. Numbers are right-aligned; the best
// value of a column is marked.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::report {

/// A text, a number with its decimals, or mean ± standard deviation. NaN prints as "–" and is never best;
/// values that print the same are equally good.
class Cell {
 public:
  Cell(std::string text) : text_(std::move(text)) {}  // NOLINT: implicit, for readable tables
  Cell(std::string_view text) : text_(text) {}        // NOLINT
  Cell(const char* text) : text_(text) {}             // NOLINT
  Cell(double value, int decimals = 3) : value_(value), decimals_(decimals) {}  // NOLINT
  template <std::integral Integer>
  Cell(Integer value) : Cell(count(static_cast<int64_t>(value))) {}  // NOLINT
  /// Mean ± standard deviation; without one (a single seed) the mean only.
  static Cell mean_sd(double mean, std::optional<double> stddev, int decimals = 3);
  /// An integer in groups of three: 686,544.
  static Cell count(int64_t value);
  /// A number with its own text, such as "1.51 G"; compared by value.
  static Cell number(double value, std::string text);
  /// The cell with a group: the best value is marked among the cells of a column that have the same one.
  Cell within(std::string group) &&;

  bool is_number() const { return value_.has_value(); }
  std::optional<double> value() const { return value_; }
  std::optional<double> stddev() const { return stddev_; }
  int decimals() const { return decimals_; }
  bool shows_decimals() const { return text_.empty(); }  // without its own text
  std::string text() const;
  const std::string& group() const { return group_; }

 private:
  std::string text_, group_;
  std::optional<double> value_, stddev_;
  int decimals_ = 3;
};

struct Column {
  enum class Best { none, lowest, highest };
  std::string name = {};
  Best best = Best::none;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);
  /// One cell per column; throws a usage error otherwise.
  void add_row(std::vector<Cell> cells);
  /// Adds a rule between groups of rows; the best value is per group if `best_by_group` is set.
  void add_rule();
  bool best_by_group = false;

  size_t rows() const { return rows_.size(); }
  /// Aligned by display width, columns two spaces apart, "*" after the best values (bold too when `color`).
  std::string to_text(bool color = false) const;
  std::string to_markdown() const;  // best values in **bold**
  std::string to_csv() const;       // numbers in full precision, texts quoted as in RFC 4180
  std::string to_html() const;      // a <table> element

 private:
  struct Row {
    std::vector<Cell> cells;
    bool rule_above = false;
  };
  std::vector<std::vector<bool>> best() const;
  /// The rows with the best value of a column, in which each of `rows` has a number.
  std::vector<size_t> best_of(const std::vector<size_t>& rows, size_t column) const;
  std::vector<bool> number_columns() const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  bool rule_pending_ = false;
};

}  // namespace modewise::report
