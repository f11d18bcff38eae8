#include "modewise/data/forecasting/tables/categories.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/data/forecasting/tables/table_time.h"

namespace modewise::data {
namespace {

constexpr size_t kMaxWords = 64;

const io::CsvColumn& column_of_words(const io::CsvTable& table, const std::string& name) {
  std::vector<std::string> names;
  for (const io::CsvColumn& column : table.columns) names.push_back(column.name);
  const io::CsvColumn* column = table.find(name);
  require(column != nullptr, ErrorKind::config, "data.categories: {} has no column '{}'{}", table.source,
          name, nearest_name_hint(name, names));
  require(column->kind == io::CsvColumn::text, ErrorKind::data,
          "{}: data.categories expects columns of words, but column '{}' holds {}", table.source, name,
          column->kind == io::CsvColumn::number ? "numbers" : "dates");
  return *column;
}

/// Category index of each row; −1: missing.
std::vector<int32_t> numbers_of(const io::CsvTable& table, const io::CsvColumn& column,
                                const std::vector<std::string>& words) {
  std::vector<int32_t> numbers;
  numbers.reserve(column.texts.size());
  for (const std::string_view text : column.texts) {
    const auto at = std::lower_bound(words.begin(), words.end(), text);
    if (!text.empty() && (at == words.end() || *at != text))
      fail(ErrorKind::data, "{}:{}: column '{}' holds '{}', but its categories are {}", table.source,
           TableLines(table)(std::ssize(numbers)), column.name, text, fmt::join(words, ", "));
    numbers.push_back(text.empty() ? -1 : static_cast<int32_t>(at - words.begin()));
  }
  return numbers;
}

std::vector<io::CsvColumn> encoded(const io::CsvTable& table, const io::CsvColumn& column,
                                   const std::vector<std::string>& words) {
  const std::vector<int32_t> numbers = numbers_of(table, column, words);
  std::vector<io::CsvColumn> out;
  for (int32_t word = words.size() == 2 ? 1 : 0; word < std::ssize(words); ++word) {
    io::CsvColumn& added = out.emplace_back();
    added.name =
        words.size() == 2 ? column.name : fmt::format("{}={}", column.name, words[static_cast<size_t>(word)]);
    added.numbers.reserve(numbers.size());
    for (const int32_t number : numbers)
      added.numbers.push_back(number < 0 ? std::numeric_limits<double>::quiet_NaN() : number == word ? 1 : 0);
  }
  return out;
}

/// Replaces `name` by the names of `added`.
void rename(std::vector<std::string>& names, const std::string& name,
            const std::vector<io::CsvColumn>& added) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return;
  std::vector<std::string> inserted;
  for (const io::CsvColumn& column : added) inserted.push_back(column.name);
  names.insert(names.erase(at), inserted.begin(), inserted.end());
}

void require_new_names(const io::CsvTable& table, const std::vector<io::CsvColumn>& added,
                       const std::string& old) {
  for (const io::CsvColumn& column : added)
    require(column.name == old || table.find(column.name) == nullptr, ErrorKind::data,
            "{}: a category of column '{}' would be named '{}', like another column", table.source, old,
            column.name);
}

}  // namespace

void add_words(Categories& words, const io::CsvTable& table, const ForecastDataConfig& config) {
  for (const std::string& name : config.categories) {
    const io::CsvColumn& column = column_of_words(table, name);
    std::vector<std::string>& found = words[name];
    for (const std::string_view text : column.texts) {
      const auto at = std::lower_bound(found.begin(), found.end(), text);
      if (!text.empty() && (at == found.end() || *at != text)) found.emplace(at, text);
      require(found.size() <= kMaxWords, ErrorKind::data,
              "{}: column '{}' holds more than {} different words, too many for categories", table.source,
              name, kMaxWords);
    }
  }
}

void encode_categories(io::CsvTable& table, const Categories& categories, ForecastDataConfig& config) {
  int64_t columns = 0;
  for (const auto& [name, words] : categories) columns += words.size() == 2 ? 1 : std::ssize(words);
  if (columns == 0) return;
  const auto maximum =
      static_cast<int64_t>(2 * std::filesystem::file_size(table.source) + (size_t{64} << 20)) / 8;
  require(columns * table.rows <= maximum, ErrorKind::data,
          "{}: the {} categories of {} rows would need more than twice the file and 64 MiB; data.categories "
          "may list columns of fewer words",
          table.source, columns, table.rows);
  for (const auto& [name, words] : categories) {
    require(words.size() >= 2, ErrorKind::data, "{}: column '{}' needs at least two categories, it holds {}",
            table.source, name, words.empty() ? "none" : "'" + words[0] + "' alone");
    std::vector<io::CsvColumn> added = encoded(table, column_of_words(table, name), words);
    require_new_names(table, added, name);
    rename(config.columns, name, added);
    rename(config.drop, name, added);
    const auto at = std::ranges::find(table.columns, name, &io::CsvColumn::name);
    table.columns.insert(table.columns.erase(at), std::make_move_iterator(added.begin()),
                         std::make_move_iterator(added.end()));
  }
}

}  // namespace modewise::data
