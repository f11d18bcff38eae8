#pragma once
// Compression helpers for tests.

#include <zlib.h>

#include <string>
#include <string_view>

namespace modewise::io {

inline std::string gzip_of(std::string_view content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// With zlib's header and checksum, the deflate format of TIFF.
inline std::string zlib_of(std::string_view content) {
  uLongf size = compressBound(content.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(content.data()),
            content.size(), 9);
  out.resize(size);
  return out;
}

}  // namespace modewise::io
