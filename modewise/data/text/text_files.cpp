#include "modewise/data/text/text_files.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "modewise/core/data_files.h"
#include "modewise/core/parse_json.h"
#include "modewise/data/text/config.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/tables/csv_scanner.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLooked = size_t{64} << 10;

std::string_view beginning(const io::MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), std::min(file.bytes().size(), kLooked)};
}

/// Column names of a table's header or of the first object of a .jsonl; empty if they cannot be read.
std::set<std::string> first_names(std::string_view line, const std::string& ending) {
  std::set<std::string> names;
  try {
    if (ending == ".jsonl") {
      const auto object = parse_json<nlohmann::json>(line, "");
      if (object.is_object())
        for (const auto& [name, unused] : object.items()) names.insert(name);
      return names;
    }
    for (const char delimiter : {',', ';', '\t', '|'}) {
      std::set<std::string> cells;
      io::CsvScanner(line, delimiter, "").row([&](size_t, std::string_view cell) { cells.emplace(cell); });
      if (cells.size() > names.size()) names = std::move(cells);
    }
  } catch (const Error&) {  // the reader of the file reports the error
  }
  return names;
}

}  // namespace

bool holds_labelled_texts(const fs::path& path) {
  if (fs::is_directory(path)) {
    return std::ranges::any_of(std::initializer_list<const char*>{"train.jsonl", "train.csv", "train.tsv"},
                               [&](const char* name) { return holds_labelled_texts(path / name); });
  }
  const std::string ending = lower_extension(path);
  if (!fs::is_regular_file(path) || (ending != ".jsonl" && ending != ".csv" && ending != ".tsv"))
    return false;
  const io::MappedFile file(path);
  const std::string_view text = beginning(file);
  const std::set<std::string> names = first_names(text.substr(0, text.find_first_of("\r\n")), ending);
  const TextDataConfig usual;
  return names.contains(usual.text) && names.contains(usual.label);
}

}  // namespace modewise::data
