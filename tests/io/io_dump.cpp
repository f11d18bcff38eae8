// Answers, for each line "FORMAT<tab>PATH" on stdin, with one line of JSON: what the reader sees in the file,
// or
// {"error": …}. tests/python/test_io_oracle.py compares the answers with NumPy's and safetensors'.

#include <iostream>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/io/csv.h"
#include "modewise/io/npz.h"
#include "modewise/io/safetensors.h"

namespace {

using namespace modewise;
using nlohmann::json;

std::string hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

json dump(const io::Array& array) {
  return {{"dtype", io::dtype_name(array.dtype)}, {"shape", array.shape}, {"bytes", hex(array.bytes)}};
}

json dump_csv(const std::string& path) {
  json columns = json::array();
  for (const io::CsvColumn& column : io::read_csv(path).columns) {
    json cells = json::array();
    for (const double value : column.numbers) cells.push_back(fmt::format("{:a}", value));
    for (const int64_t date : column.dates) cells.push_back(date);
    for (const std::string_view text : column.texts) cells.push_back(text);
    columns.push_back({{"name", column.name}, {"kind", column.kind}, {"cells", cells}});
  }
  return columns;
}

json dump(const std::string& format, const std::string& path) {
  if (format == "npy") return dump(io::read_npy(path));
  if (format == "csv") return dump_csv(path);
  json result = json::object();
  if (format == "npz") {
    for (const auto& [name, array] : io::read_npz(path)) result[name] = dump(array);
  } else {
    const io::SafetensorsFile file(path);
    result["metadata"] = file.metadata();
    result["tensors"] = json::object();
    for (const io::TensorView& tensor : file.tensors()) {
      result["tensors"][tensor.name] = {
          {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"bytes", hex(tensor.bytes)}};
    }
  }
  return result;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const size_t tab = line.find('\t');
    json answer;
    try {
      answer = dump(line.substr(0, tab), line.substr(tab + 1));
    } catch (const Error& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump(-1, ' ', true, json::error_handler_t::replace) << std::endl;
  }
}
