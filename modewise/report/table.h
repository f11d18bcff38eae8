#pragma once
// Tables of results, for the terminal (aligned text), Markdown, CSV and HTML. Numbers stand right-aligned;
// the best value of a column is marked.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::report {

/// A text, a number with its decimals, or mean ± standard deviation. A NaN prints as "–" and is never best;
/// values that read the same are equally good.
class Cell {
 public:
  Cell(std::string text) : text_(std::move(text)) {}  // NOLINT: a table reads best without casts
  Cell(std::string_view text) : text_(text) {}        // NOLINT
  Cell(const char* text) : text_(text) {}             // NOLINT
  Cell(double value, int decimals = 3) : value_(value), decimals_(decimals) {}  // NOLINT
  template <std::integral Integer>
  Cell(Integer value) : Cell(count(static_cast<int64_t>(value))) {}  // NOLINT
  /// `mean ± deviation`; without a deviation (one seed) the mean alone.
  static Cell mean_sd(double mean, std::optional<double> stddev, int decimals = 3);
  /// An integer in groups of three: 686,544.
  static Cell count(int64_t value);
  /// A number shown with a text of its own, such as "1.51 G"; compared by its value.
  static Cell number(double value, std::string text);

  bool is_number() const { return value_.has_value(); }
  std::optional<double> value() const { return value_; }
  std::optional<double> stddev() const { return stddev_; }
  int decimals() const { return decimals_; }
  bool shows_decimals() const { return text_.empty(); }  // no text of its own
  std::string text() const;

 private:
  std::string text_;
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
  /// One cell a column; throws a usage error otherwise.
  void add_row(std::vector<Cell> cells);
  /// A rule between groups of rows; the best value is sought within each group when `best_by_group` is set.
  void add_rule();
  bool best_by_group = false;

  size_t rows() const { return rows_.size(); }
  /// Aligned by display width, columns two spaces apart, "*" after the best values (bold too when `color`).
  std::string to_text(bool color = false) const;
  std::string to_markdown() const;  // best values in **bold**
  std::string to_csv() const;       // numbers with full precision, texts quoted as RFC 4180 says
  std::string to_html() const;      // a <table> element

 private:
  struct Row {
    std::vector<Cell> cells;
    bool rule_above = false;
  };
  std::vector<std::vector<bool>> best() const;
  std::vector<bool> number_columns() const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  bool rule_pending_ = false;
};

}  // namespace modewise::report
