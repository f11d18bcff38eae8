#include "modewise/tasks/volume_classification/score_file.h"

#include <fmt/format.h>

#include <cmath>
#include <regex>

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
      R"(([a-z0-9]+mnist[a-z0-9]*)(_\d+)?_(train|val|test)_\[AUC\].*_\[ACC\].*@(.+)\.csv)");
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
  for (int64_t row = 0; row < csv.rows; ++row)
    for (size_t column = 1; column < csv.columns.size(); ++column) {
      const io::CsvColumn& cells = csv.columns[column];
      require(cells.kind == io::CsvColumn::number && std::isfinite(cells.numbers[static_cast<size_t>(row)]),
              ErrorKind::data, "{}:{}: score {} is not a number", path.string(), row + 1, column);
      table.scores.push_back(cells.numbers[static_cast<size_t>(row)]);
    }
  return table;
}

}  // namespace modewise::tasks
