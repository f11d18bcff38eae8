#include "modewise/io/gzip.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "modewise/core/error.h"

namespace modewise::io {
namespace {

constexpr int kGzipOnly = MAX_WBITS + 16;

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

GzipReader::GzipReader(std::span<const std::byte> bytes, std::string source)
    : bytes_(bytes), rest_(bytes), source_(std::move(source)) {
  require(is_gzip(bytes), ErrorKind::data, "{}: not a gzip file: it does not begin with 1f 8b", source_);
  require(inflateInit2(&stream_, kGzipOnly) == Z_OK, ErrorKind::internal, "zlib cannot start inflating");
}

GzipReader::~GzipReader() {
  inflateEnd(&stream_);
}

size_t GzipReader::read(std::span<std::byte> out) {
  constexpr size_t kMax = std::numeric_limits<uInt>::max();
  size_t filled = 0;
  while (filled < out.size()) {
    if (!within_) {
      if (!is_gzip(rest_)) {
        // Tape and card writers pad with zeros.
        const bool padding =
            std::all_of(rest_.begin(), rest_.end(), [](std::byte b) { return b == std::byte{0}; });
        require(padding, ErrorKind::data, "{}: unexpected bytes after {} bytes of compressed data", source_,
                bytes_.size() - rest_.size());
        break;
      }
      require(inflateReset(&stream_) == Z_OK, ErrorKind::internal, "zlib cannot start inflating");
      within_ = true;
    }
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    stream_.avail_out = static_cast<uInt>(std::min(out.size() - filled, kMax));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest_.data()));
    stream_.avail_in = static_cast<uInt>(std::min(rest_.size(), kMax));
    const size_t room = stream_.avail_out, given = stream_.avail_in;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    const size_t got = room - stream_.avail_out;
    rest_ = rest_.subspan(given - stream_.avail_in);
    filled += got;
    done_ += got;
    require(status != Z_MEM_ERROR, ErrorKind::internal, "zlib is out of memory");
    require(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR, ErrorKind::data,
            "{}: its compressed data is damaged near byte {} ({} bytes of content): {}", source_,
            bytes_.size() - rest_.size(), done_, stream_.msg != nullptr ? stream_.msg : "no reason given");
    require(status == Z_STREAM_END || got > 0 || given != stream_.avail_in, ErrorKind::data,
            "{}: the compressed data is truncated: it ends within its content, after {} bytes of it", source_,
            done_);
    within_ = status != Z_STREAM_END;
  }
  return filled;
}

std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& source,
                              int64_t max_bytes) {
  std::vector<std::byte> content(size_t{1} << 16);
  int64_t size = 0;
  {
    GzipReader counter(bytes, source);
    while (const size_t got = counter.read(content)) {
      size += static_cast<int64_t>(got);
      require(size <= max_bytes, ErrorKind::data,
              "{}: its {} compressed bytes expand to more than the limit of {} bytes", source, bytes.size(),
              max_bytes);
    }
  }
  content.resize(static_cast<size_t>(size));
  content.shrink_to_fit();
  GzipReader reader(bytes, source);
  reader.read(content);
  return content;
}

}  // namespace modewise::io
