#pragma once
// safetensors files: 8 bytes of header length, a JSON header, the tensors' bytes without gaps. Every rule of
// the reference reader is enforced, so that a file that opens here opens everywhere.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/byte_sink.h"
#include "modewise/io/mapped_file.h"

namespace modewise::io {

struct TensorView {
  std::string name;
  std::string dtype;  // "F32", "BF16", "I64", "BOOL", …
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  // C order, little endian
};

/// Bits per element; 0 for an unknown dtype.
int safetensors_bits(std::string_view dtype);
/// Rank of a dtype in the alignment order by which files are sorted; -1 for an unknown dtype.
int safetensors_rank(std::string_view dtype);

/// The checked header of a file. Entries are small (names stay in the file's bytes), so that the index of a
/// million tensors takes less memory than the file.
class SafetensorsIndex {
 public:
  /// `bytes` must outlive the index. Throws data errors that name `source`, offset and rule.
  SafetensorsIndex(std::span<const std::byte> bytes, const std::string& source);

  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  size_t size() const { return entries_.size(); }
  /// In the order of their data.
  TensorView tensor(size_t index) const;
  std::vector<TensorView> tensors() const;
  std::optional<TensorView> find(std::string_view name) const;

 private:
  struct Entry {
    uint64_t begin = 0, end = 0;  // offsets in the data
    uint32_t name = 0;            // offset within the header or, escaped names, in unescaped_
    uint32_t name_length = 0;
    uint32_t shape = 0;  // offset within shapes_
    uint8_t rank = 0, dtype = 0;
    bool escaped = false;
  };
  friend class SafetensorsHeaderParser;
  std::string_view name_of(const Entry& entry) const;

  std::string_view header_;
  std::span<const std::byte> data_;
  std::map<std::string, std::string> metadata_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> by_name_;  // order of the names
  std::vector<int64_t> shapes_;
  std::string unescaped_;
};

/// A mapped file with its index; the views' bytes live as long as this object.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path)
      : file_(path), index_(file_.bytes(), path.string()) {}

  const std::map<std::string, std::string>& metadata() const { return index_.metadata(); }
  size_t size() const { return index_.size(); }
  std::vector<TensorView> tensors() const { return index_.tensors(); }
  std::optional<TensorView> find(std::string_view name) const { return index_.find(name); }

 private:
  MappedFile file_;
  SafetensorsIndex index_;
};

/// A tensor to write, whose bytes are streamed: the file is never in memory as a whole.
struct TensorSource {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  ByteSource give;  // as TensorView::bytes

  /// Size in bytes by dtype and shape. Throws data errors for an unknown dtype or a shape without a size in
  /// bytes.
  uint64_t size() const;
};
/// Throws data errors if bytes and shape do not match. The bytes must outlive the sources.
std::vector<TensorSource> sources_of(std::span<const TensorView> tensors);

/// Writer of a file: tensors sorted by alignment (widest first), then name; header padded to 8 bytes.
class SafetensorsWriter {
 public:
  /// Throws data errors for a duplicate name, an unknown dtype, a shape without a size.
  explicit SafetensorsWriter(std::vector<TensorSource> tensors,
                             const std::map<std::string, std::string>& metadata = {});
  uint64_t size() const;
  /// Streams the whole file, each tensor from its source.
  void write(const ByteSink& sink) const;

 private:
  std::vector<TensorSource> tensors_;  // in file order
  std::string header_;                 // preceded by its length
};

/// Written atomically and durably.
void write_safetensors(const std::filesystem::path& path, const SafetensorsWriter& writer);
void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const std::map<std::string, std::string>& metadata = {});
/// The content of a file.
std::string format_safetensors(std::span<const TensorView> tensors,
                               const std::map<std::string, std::string>& metadata = {});

}  // namespace modewise::io
