#pragma once
// gzip decompression (RFC 1952), also of several members in a row. A first pass inflates without storing, to
// find the length of the content before anything is allocated for it.

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace modewise::io {

bool is_gzip(std::span<const std::byte> bytes);

/// Sequential reader of the content.
class GzipReader {
 public:
  /// `bytes` must outlive the reader; `source` names them in messages.
  GzipReader(std::span<const std::byte> bytes, std::string source);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Fills `out` up to the end of the content and returns the number of bytes. Throws data errors if the data
  /// is damaged or truncated, or checksum or length do not match.
  size_t read(std::span<std::byte> out);

 private:
  std::span<const std::byte> bytes_, rest_;
  std::string source_;
  z_stream stream_{};
  bool within_ = false;  // a member is open
  uint64_t done_ = 0;
};

/// The whole content. Refuses more than `max_bytes`; deflate itself cannot expand more than 1032 times.
std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& source, int64_t max_bytes);

}  // namespace modewise::io
