#include "modewise/tasks/volume_classification/score_file.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <regex>
#include <vector>

#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/data/volume_classification/medmnist.h"
#include "modewise/io/tables/csv.h"

namespace modewise::tasks {

std::string score_file_name(const std::string& flag, int64_t size, const std::string& split, double auc,
                            double accuracy, const std::string& run) {
  return fmt::format("{}{}_{}_[AUC]{:.3f}_[ACC]{:.3f}@{}.csv", flag, data::medmnist_size_flag(size), split,
                     auc, accuracy, run);
}

ScoreFileName parse_score_file_name(const std::filesystem::path& path) {
  static const std::regex form(
      R"(([a-z0-9]+mnist[a-z0-9]*)(_\d+)?_(train|val|test)(?:(?:[^A-Za-z0-9@].*)?@(.+)|[^A-Za-z0-9@].*)?\.csv)");
  std::smatch match;
  const std::string name = path.filename().string();
  if (!std::regex_match(name, match, form)) return {};
  return {match[1], match[2], match[3], match[4]};
}

std::string format_scores(const metrics::ScoreTable& table) {
  std::string text;
  for (int64_t i = 0; i < table.samples(); ++i) {
    text += std::to_string(i);
    for (int64_t k = 0; k < table.classes; ++k) text += fmt::format(",{}", table.score(i, k));
    text += '\n';
  }
  return text;
}

namespace {

/// The rows of the samples 0, 1, …, whose indices are the first column, in any order.
std::vector<size_t> rows_by_index(const io::CsvTable& csv, const std::string& path) {
  const io::CsvColumn& indices = csv.columns[0];
  const auto rows = static_cast<size_t>(csv.rows);
  std::vector<size_t> order(rows, rows);
  for (size_t row = 0; row < rows; ++row) {
    const double index =
        indices.kind == io::CsvColumn::number ? indices.numbers[row] : std::nan("");  // NaN: no number
    require(index >= 0 && index < static_cast<double>(rows) && index == std::floor(index) &&
                order[static_cast<size_t>(index)] == rows,
            ErrorKind::data,
            "{}:{}: the first column must have the indices of the samples, 0 to {}, each once, got {}", path,
            row + 1, rows - 1, index);
    order[static_cast<size_t>(index)] = row;
  }
  return order;
}

/// Warns of rows that are not probabilities, such as logits.
void warn_of_other_scores(const metrics::ScoreTable& table, const std::string& path) {
  constexpr double kRounding = 0.01;
  int64_t others = 0, first = 0;
  for (int64_t i = 0; i * table.classes < std::ssize(table.scores); ++i) {
    double sum = 0;
    bool inside = true;
    for (int64_t k = 0; k < table.classes; ++k) {
      sum += table.score(i, k);
      inside = inside && table.score(i, k) >= 0;
    }
    if (inside && std::abs(sum - 1) <= kRounding) continue;
    if (others++ == 0) first = i;
  }
  if (others > 0)
    spdlog::warn(
        "{}: the scores of {}, the first of index {}, are not probabilities (from 0, with sum 1), which "
        "accuracy and log loss need; the softmax of logits are",
        path, counted(others, "sample"), first);
}

}  // namespace

metrics::ScoreTable read_scores(const std::filesystem::path& path) {
  io::CsvOptions options;
  options.header = io::CsvOptions::no;
  options.plain_numbers = true;
  const io::CsvTable csv = io::read_csv(path.string(), options);
  require(csv.columns.size() >= 3, ErrorKind::data,
          "{}: expected one row per sample with its index and a score per class (at least 2), got {} columns",
          path.string(), csv.columns.size());
  metrics::ScoreTable table;
  table.classes = std::ssize(csv.columns) - 1;
  for (const size_t row : rows_by_index(csv, path.string()))
    for (size_t column = 1; column < csv.columns.size(); ++column) {
      const io::CsvColumn& cells = csv.columns[column];
      require(cells.kind == io::CsvColumn::number && std::isfinite(cells.numbers[row]), ErrorKind::data,
              "{}:{}: score {} is not a number", path.string(), row + 1, column);
      table.scores.push_back(cells.numbers[row]);
    }
  warn_of_other_scores(table, path.string());
  return table;
}

}  // namespace modewise::tasks
