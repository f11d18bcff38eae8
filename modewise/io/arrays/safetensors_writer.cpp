#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
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

uint64_t bits_of(std::string_view name, std::string_view dtype, const std::vector<int64_t>& shape) {
  const int bits = safetensors_bits(dtype);
  require(bits > 0, ErrorKind::data, "tensor '{}': unknown safetensors dtype '{}'", name, dtype);
  uint64_t total = static_cast<uint64_t>(bits);
  for (const int64_t dim : shape) {
    require(dim >= 0 && !__builtin_mul_overflow(total, static_cast<uint64_t>(dim), &total), ErrorKind::data,
            "tensor '{}': the shape [{}] has no size", name, fmt::join(shape, ", "));
  }
  return total;
}

void check_names(const std::vector<TensorSource>& tensors) {
  std::set<std::string_view> names;
  for (const TensorSource& tensor : tensors) {
    require(tensor.name != "__metadata__", ErrorKind::data,
            "'__metadata__' is not allowed as a tensor name in safetensors");
    require(names.insert(tensor.name).second, ErrorKind::data, "duplicate tensor name '{}'", tensor.name);
  }
}

std::string format_header(const std::vector<TensorSource>& sorted,
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
  for (const TensorSource& tensor : sorted) {
    if (json.size() > 1) json += ',';
    append_json_string(json, tensor.name);
    const uint64_t end = offset + tensor.size();
    json += fmt::format(R"(:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", tensor.dtype,
                        fmt::join(tensor.shape, ","), offset, end);
    offset = end;
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  return json;
}

}  // namespace

uint64_t TensorSource::size() const {
  const uint64_t bits = bits_of(name, dtype, shape);
  require(bits % 8 == 0, ErrorKind::data,
          "tensor '{}': {} of shape [{}] takes {} bits, which is not a whole number of bytes", name, dtype,
          fmt::join(shape, ", "), bits);
  return bits / 8;
}

std::vector<TensorSource> sources_of(std::span<const TensorView> tensors) {
  std::vector<TensorSource> sources;
  for (const TensorView& tensor : tensors) {
    const uint64_t bits = bits_of(tensor.name, tensor.dtype, tensor.shape);
    require(bits % 8 == 0 && bits / 8 == tensor.bytes.size(), ErrorKind::data,
            "tensor '{}': {} of shape [{}] takes {} bits, but {} bytes were given", tensor.name, tensor.dtype,
            fmt::join(tensor.shape, ", "), bits, tensor.bytes.size());
    sources.push_back({tensor.name, tensor.dtype, tensor.shape,
                       [bytes = tensor.bytes](const ByteSink& sink) { sink(bytes); }});
  }
  return sources;
}

SafetensorsWriter::SafetensorsWriter(std::vector<TensorSource> tensors,
                                     const std::map<std::string, std::string>& metadata)
    : tensors_(std::move(tensors)) {
  check_names(tensors_);
  std::sort(tensors_.begin(), tensors_.end(), [](const TensorSource& a, const TensorSource& b) {
    const int rank_a = safetensors_rank(a.dtype), rank_b = safetensors_rank(b.dtype);
    return rank_a != rank_b ? rank_a > rank_b : a.name < b.name;
  });
  const std::string json = format_header(tensors_, metadata);
  for (int shift = 0; shift < 64; shift += 8) header_ += static_cast<char>(json.size() >> shift & 255);
  header_ += json;
}

uint64_t SafetensorsWriter::size() const {
  uint64_t total = header_.size();
  for (const TensorSource& tensor : tensors_) total += tensor.size();
  return total;
}

void SafetensorsWriter::write(const ByteSink& sink) const {
  sink(as_bytes(header_));
  for (const TensorSource& tensor : tensors_) {
    uint64_t given = 0;
    tensor.give([&](std::span<const std::byte> bytes) {
      given += bytes.size();
      sink(bytes);
    });
    require(given == tensor.size(), ErrorKind::internal,
            "tensor '{}': {} of shape [{}] takes {} bytes, got {}", tensor.name, tensor.dtype,
            fmt::join(tensor.shape, ", "), tensor.size(), given);
  }
}

void write_safetensors(const std::filesystem::path& path, const SafetensorsWriter& writer) {
  OutputFile file(path);
  writer.write([&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.finish();
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const std::map<std::string, std::string>& metadata) {
  write_safetensors(path, SafetensorsWriter(sources_of(tensors), metadata));
}

std::string format_safetensors(std::span<const TensorView> tensors,
                               const std::map<std::string, std::string>& metadata) {
  const SafetensorsWriter writer(sources_of(tensors), metadata);
  std::string file;
  file.reserve(writer.size());
  writer.write([&](std::span<const std::byte> bytes) {
    file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return file;
}

}  // namespace modewise::io
