#include <algorithm>
#include <limits>
#include <memory>

#include "modewise/core/error.h"
#include "modewise/io/arrays/zip_archive.h"

namespace modewise::io {
namespace {

constexpr uint64_t kMax32 = 0xFFFFFFFE;  // all ones: see the zip64 field

void put(std::string& text, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255);
}

std::string deflated(std::string_view content) {
  z_stream stream{};
  require(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
          ErrorKind::internal, "zlib cannot start deflating");
  const std::unique_ptr<z_stream, decltype(&deflateEnd)> end(&stream, &deflateEnd);
  std::string result;
  std::string buffer(1 << 18, '\0');
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0 && !content.empty()) {
      const size_t piece = std::min<size_t>(content.size(), 1 << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
      stream.avail_in = static_cast<uInt>(piece);
      content.remove_prefix(piece);
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = deflate(&stream, content.empty() ? Z_FINISH : Z_NO_FLUSH);
    result.append(buffer, 0, buffer.size() - stream.avail_out);
  }
  return result;
}

}  // namespace

void ZipWriter::add(const std::string& name, std::string_view content) {
  require(name.size() <= 65535, ErrorKind::data, "a name of {} bytes is too long for an archive",
          name.size());
  const std::string packed = compress_ ? deflated(content) : std::string();
  const std::string_view data = compress_ ? std::string_view(packed) : content;
  const uint64_t offset = archive_.size();
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  const bool wide_sizes = content.size() > kMax32 || data.size() > kMax32, wide_offset = offset > kMax32;
  const auto narrow = [](uint64_t value, bool wide) { return wide ? 0xFFFFFFFF : value; };

  // Version, flags (bit 11: the name is UTF-8), method, time, date (1980-01-01), checksum, sizes, length of
  // the name.
  std::string common;
  put(common, wide_sizes || wide_offset ? 45 : 20, 2);
  put(common, 1 << 11, 2);
  put(common, compress_ ? 8 : 0, 2);
  put(common, 0, 2);
  put(common, 0x21, 2);
  put(common, checksum, 4);
  put(common, narrow(data.size(), wide_sizes), 4);
  put(common, narrow(content.size(), wide_sizes), 4);
  put(common, name.size(), 2);

  std::string sizes;
  if (wide_sizes) {
    put(sizes, content.size(), 8);
    put(sizes, data.size(), 8);
  }
  const auto extra = [](const std::string& fields) {
    std::string text;
    if (fields.empty()) return text;
    put(text, 1, 2);
    put(text, fields.size(), 2);
    return text + fields;
  };
  const std::string local_extra = extra(sizes);
  put(archive_, 0x04034b50, 4);
  archive_ += common;
  put(archive_, local_extra.size(), 2);
  archive_ += name + local_extra;
  archive_ += data;

  if (wide_offset) put(sizes, offset, 8);
  const std::string directory_extra = extra(sizes);
  put(directory_, 0x02014b50, 4);
  put(directory_, 45, 2);
  directory_ += common;
  put(directory_, directory_extra.size(), 2);
  put(directory_, 0, 2);  // comment
  put(directory_, 0, 2);  // disk
  put(directory_, 0, 2);  // internal attributes
  put(directory_, 0, 4);  // external attributes
  put(directory_, narrow(offset, wide_offset), 4);
  directory_ += name + directory_extra;
  ++members_;
}

std::string ZipWriter::finish() {
  const uint64_t offset = archive_.size(), size = directory_.size();
  const bool wide = members_ >= 0xFFFF || offset > kMax32 || size > kMax32;
  archive_ += directory_;
  if (wide) {
    const uint64_t end = archive_.size();
    put(archive_, 0x06064b50, 4);
    put(archive_, 44, 8);
    put(archive_, 45, 2);
    put(archive_, 45, 2);
    put(archive_, 0, 8);  // this disk, the directory's disk
    put(archive_, members_, 8);
    put(archive_, members_, 8);
    put(archive_, size, 8);
    put(archive_, offset, 8);
    put(archive_, 0x07064b50, 4);
    put(archive_, 0, 4);
    put(archive_, end, 8);
    put(archive_, 1, 4);
  }
  put(archive_, 0x06054b50, 4);
  put(archive_, 0, 4);
  put(archive_, wide ? 0xFFFF : members_, 2);
  put(archive_, wide ? 0xFFFF : members_, 2);
  put(archive_, wide ? 0xFFFFFFFF : size, 4);
  put(archive_, wide ? 0xFFFFFFFF : offset, 4);
  put(archive_, 0, 2);
  return std::move(archive_);
}

}  // namespace modewise::io
