#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/arrays/safetensors.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

void append_json_string(std::string& json, std::string_view text) {
  require(find_invalid_utf8(text) == std::string_view::npos, ErrorKind::data,
          "a safetensors header can hold only UTF-8, got {}", quote_for_message(text));
  json += '"';
  for (const char c : text) {
    static constexpr std::string_view kMeanings = "\"\\\b\f\n\r\t", kCodes = "\"\\bfnrt";
    if (const size_t known = kMeanings.find(c); known != std::string_view::npos) {
      json += '\\';
      json += kCodes[known];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", c);
    } else {
      json += c;
    }
  }
  json += '"';
}

void check_tensor(const TensorView& tensor) {
  const int bits = safetensors_bits(tensor.dtype);
  require(bits > 0, ErrorKind::data, "tensor '{}': the dtype '{}' is not one of safetensors", tensor.name,
          tensor.dtype);
  uint64_t total = static_cast<uint64_t>(bits);
  for (const int64_t dim : tensor.shape) {
    require(dim >= 0 && !__builtin_mul_overflow(total, static_cast<uint64_t>(dim), &total), ErrorKind::data,
            "tensor '{}': the shape [{}] has no size", tensor.name, fmt::join(tensor.shape, ", "));
  }
  require(total % 8 == 0 && total / 8 == tensor.bytes.size(), ErrorKind::data,
          "tensor '{}': {} of shape [{}] takes {} bits, but {} bytes were given", tensor.name, tensor.dtype,
          fmt::join(tensor.shape, ", "), total, tensor.bytes.size());
}

std::string format_header(const std::vector<const TensorView*>& sorted,
                          const std::map<std::string, std::string>& metadata) {
  std::string json = "{";
  if (!metadata.empty()) {
    json += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      if (json.back() != '{') json += ',';
      append_json_string(json, key);
      json += ':';
      append_json_string(json, value);
    }
    json += '}';
  }
  uint64_t offset = 0;
  for (const TensorView* tensor : sorted) {
    if (json.size() > 1) json += ',';
    append_json_string(json, tensor->name);
    json += fmt::format(R"(:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", tensor->dtype,
                        fmt::join(tensor->shape, ","), offset, offset + tensor->bytes.size());
    offset += tensor->bytes.size();
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  return json;
}

}  // namespace

std::string format_safetensors(std::span<const TensorView> tensors,
                               const std::map<std::string, std::string>& metadata) {
  std::vector<const TensorView*> sorted;
  std::set<std::string_view> names;
  uint64_t total = 0;
  for (const TensorView& tensor : tensors) {
    check_tensor(tensor);
    require(tensor.name != "__metadata__", ErrorKind::data,
            "no tensor can be named '__metadata__' in safetensors");
    require(names.insert(tensor.name).second, ErrorKind::data, "two tensors are named '{}'", tensor.name);
    sorted.push_back(&tensor);
    total += tensor.bytes.size();
  }
  std::sort(sorted.begin(), sorted.end(), [](const TensorView* a, const TensorView* b) {
    const int rank_a = safetensors_rank(a->dtype), rank_b = safetensors_rank(b->dtype);
    return rank_a != rank_b ? rank_a > rank_b : a->name < b->name;
  });
  const std::string header = format_header(sorted, metadata);
  std::string file;
  file.reserve(8 + header.size() + total);
  for (int shift = 0; shift < 64; shift += 8) file += static_cast<char>(header.size() >> shift & 255);
  file += header;
  for (const TensorView* tensor : sorted) {
    file.append(reinterpret_cast<const char*>(tensor->bytes.data()), tensor->bytes.size());
  }
  return file;
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const std::map<std::string, std::string>& metadata) {
  write_file_atomically(path, std::string_view(format_safetensors(tensors, metadata)));
}

}  // namespace modewise::io
