#include "modewise/io/arrays/npz.h"

#include <algorithm>
#include <exception>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/arrays/npy_header.h"
#include "modewise/io/arrays/zip_archive.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr uint64_t kFreeExpansion = uint64_t{64} << 20;

void allocate(std::vector<std::byte>& bytes, uint64_t size, const std::string& place) {
  try {
    bytes.resize(size);
  } catch (const std::exception&) {
    fail(ErrorKind::general, "{}: out of memory for its {} bytes", place, size);
  }
}

Array read_member(const ZipMember& member, const std::string& source) {
  const std::string place = source + ": member " + quote_for_message(member.name);
  const uint64_t packed = member.data.size();
  // Deflate itself is limited to 1032 times, so that only arrays of one value come near the limit.
  require(!member.deflated || member.size <= kFreeExpansion || member.size / 1024 <= packed, ErrorKind::data,
          "{} declares {} bytes from {} compressed ones, more than 1024 times as many: refused", place,
          member.size, packed);
  ZipMemberReader reader(member, source);
  std::vector<std::byte> head(std::min<uint64_t>(member.size, kNpyHeaderLimit));
  reader.read(head);
  const NpyHeader header = parse_npy_header(head, place);
  require(header.data_bytes == member.size - header.data_offset, ErrorKind::data,
          "{}: the array's header declares {} bytes of data ({} {}), but the member has {}", place,
          header.data_bytes, header.shape_text(), dtype_name(header.dtype), member.size - header.data_offset);
  Array array{header.dtype, header.shape, {}};
  allocate(array.bytes, header.data_bytes, place);
  const auto already = std::span(head).subspan(header.data_offset);
  std::copy(already.begin(), already.end(), array.bytes.begin());
  reader.read(std::span(array.bytes).subspan(already.size()));
  reader.finish();
  finish_npy(header, array);
  return array;
}

std::map<std::string, Array> read_members(std::span<const std::byte> bytes, const std::string& source,
                                          uint64_t max_bytes, std::span<const std::string> left_out) {
  std::map<std::string, Array> arrays;
  uint64_t total = 0;
  for (const ZipMember& member : read_zip_directory(bytes, source)) {
    if (!member.name.ends_with(kSuffix)) continue;
    require(member.size <= max_bytes - total, ErrorKind::data,
            "{}: the members take more than {} bytes together: refused", source, max_bytes);
    total += member.size;
    const std::string name = member.name.substr(0, member.name.size() - kSuffix.size());
    if (std::find(left_out.begin(), left_out.end(), name) == left_out.end())
      arrays.emplace(name, read_member(member, source));
  }
  return arrays;
}

}  // namespace

std::map<std::string, Array> parse_npz(std::span<const std::byte> bytes, const std::string& source,
                                       uint64_t max_bytes) {
  return read_members(bytes, source, max_bytes, {});
}

std::vector<std::string> npz_names(const std::string& path) {
  const MappedFile file(path);
  std::vector<std::string> names;
  for (const ZipMember& member : read_zip_directory(file.bytes(), path))
    if (member.name.ends_with(kSuffix))
      names.push_back(member.name.substr(0, member.name.size() - kSuffix.size()));
  return names;
}

Array npz_header(const std::string& path, const std::string& name) {
  const MappedFile file(path);
  for (const ZipMember& member : read_zip_directory(file.bytes(), path)) {
    if (member.name != name + std::string(kSuffix)) continue;
    ZipMemberReader reader(member, path);
    std::vector<std::byte> head(std::min<uint64_t>(member.size, kNpyHeaderLimit));
    reader.read(head);
    const NpyHeader header = parse_npy_header(head, path + ": member " + quote_for_message(member.name));
    return {header.dtype, header.shape, {}};
  }
  fail(ErrorKind::data, "{}: there is no array {}", path, name);
}

std::map<std::string, Array> read_npz(const std::string& path, uint64_t max_bytes) {
  const MappedFile file(path);
  return parse_npz(file.bytes(), path, max_bytes);
}

std::map<std::string, Array> read_npz_without(const std::string& path,
                                              std::span<const std::string> left_out) {
  const MappedFile file(path);
  return read_members(file.bytes(), path, kNpzMaxBytes, left_out);
}

std::string format_npz(const std::map<std::string, Array>& arrays, bool compress) {
  ZipWriter writer(compress);
  for (const auto& [name, array] : arrays) writer.add(name + std::string(kSuffix), format_npy(array));
  return writer.finish();
}

void write_npz(const std::string& path, const std::map<std::string, Array>& arrays, bool compress) {
  write_file_atomically(path, std::string_view(format_npz(arrays, compress)));
}

}  // namespace modewise::io
