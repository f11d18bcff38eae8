#include "modewise/data/text/text_files.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/data_files.h"
#include "modewise/core/parse_json.h"
#include "modewise/core/utf8.h"
#include "modewise/data/text/config.h"
#include "modewise/data/text/text_rows.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/tables/column_names.h"
#include "modewise/io/tables/csv_scanner.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLooked = size_t{64} << 10;

constexpr std::array<std::string_view, 16> kUsualTexts = {
    "text",     "sentence", "review",    "reviewtext", "content",     "body",     "message",  "comment",
    "document", "tweet",    "utterance", "query",      "description", "headline", "abstract", "article"};
constexpr std::array<std::string_view, 16> kUsualLabels = {
    "label",  "labels", "sentiment", "class", "category", "target", "labeltext", "polarity",
    "intent", "topic",  "emotion",   "stars", "rating",   "score",  "isspam",    "y"};

/// The text after a byte order mark, at most kLooked bytes.
std::string_view beginning(const io::MappedFile& file) {
  return without_byte_order_mark(
      {reinterpret_cast<const char*>(file.bytes().data()), std::min(file.bytes().size(), kLooked)});
}

/// Lower-case letters and digits of a name.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : io::strip_spaces(name))
    if (c != '_' && c != '-' && c != ' ') out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

/// The name that comes first in `usual`; "": none.
std::string first_usual(std::span<const std::string> names, std::span<const std::string_view> usual) {
  for (const std::string_view wanted : usual)
    for (const std::string& name : names)
      if (plain(name) == wanted) return name;
  return "";
}

bool is_usual(const std::string& name) {
  const std::string own = plain(name);
  const auto in = [&](const auto& usual) {
    return std::find(usual.begin(), usual.end(), own) != usual.end();
  };
  return in(kUsualTexts) || in(kUsualLabels) || own == "text2" || own == "pair" || own.empty() ||
         io::names_an_index(name);
}

bool is_table(const std::string& ending) {
  return ending == ".csv" || ending == ".tsv";
}

/// Column names of a table's header or of the first object of JSON lines; empty if they cannot be read.
std::vector<std::string> first_names(std::string_view line, const std::string& ending) {
  std::vector<std::string> names;
  try {
    if (!is_table(ending)) {
      const auto object = parse_json<nlohmann::json>(line, "");
      if (object.is_object())
        for (const auto& [name, unused] : object.items()) names.push_back(name);
      return names;
    }
    for (const char delimiter : {',', ';', '\t', '|'}) {
      std::vector<std::string> cells;
      io::CsvScanner(line, delimiter, "").row([&](size_t, std::string_view cell) {
        cells.emplace_back(cell);
      });
      if (cells.size() > names.size()) names = std::move(cells);
    }
  } catch (const Error&) {  // the reader of the file reports the error
  }
  return names;
}

}  // namespace

bool holds_labelled_texts(const fs::path& path) {
  if (fs::is_directory(path)) {
    return std::ranges::any_of(own_endings(), [&](const std::string& ending) {
      return holds_labelled_texts(path / ("train" + ending));
    });
  }
  const std::string ending = lower_extension(path);
  if (!fs::is_regular_file(path) || ending == ".txt" ||
      std::ranges::find(own_endings(), ending) == own_endings().end())
    return false;
  const io::MappedFile file(path);
  const std::string_view text = beginning(file);
  const std::vector<std::string> names = first_names(text.substr(0, text.find_first_of("\r\n")), ending);
  const TextDataConfig usual;
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has(usual.text) && has(usual.label)) return true;
  const UsualColumns found = usual_columns(names);
  return !found.text.empty() && !found.label.empty() && std::all_of(names.begin(), names.end(), is_usual);
}

UsualColumns usual_columns(std::span<const std::string> names) {
  return {first_usual(names, kUsualTexts), first_usual(names, kUsualLabels)};
}

}  // namespace modewise::data
