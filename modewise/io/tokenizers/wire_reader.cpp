#include "modewise/io/tokenizers/wire_reader.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"

namespace modewise::io {

static_assert(std::endian::native == std::endian::little,
              "fixed numbers are read in the byte order of the file");

void WireReader::wrong(size_t at, std::string_view what) const {
  fail(ErrorKind::data, "{}: not a readable model: at byte {}, {}", *source_, at, what);
}

uint64_t WireReader::varint() {
  const size_t begin = at_;
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at_ == bytes_.size()) wrong(offset_ + begin, "a number is truncated");
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    if (shift == 63 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  wrong(offset_ + begin, "a number takes more than 64 bits");
}

uint64_t WireReader::fixed(size_t bytes) {
  if (bytes_.size() - at_ < bytes)
    wrong(offset_ + at_, fmt::format("a number of {} bytes is truncated", bytes));
  uint64_t value = 0;
  std::memcpy(&value, bytes_.data() + at_, bytes);
  at_ += bytes;
  return value;
}

bool WireReader::next(Field& field) {
  if (at_ == bytes_.size()) return false;
  field = {};
  field.at = offset_ + at_;
  const uint64_t tag = varint();
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF)
    wrong(field.at, fmt::format("a field has the number {}", tag >> 3));
  field.number = static_cast<uint32_t>(tag >> 3);
  field.kind = static_cast<Kind>(tag & 7);
  switch (field.kind) {
    case Kind::varint:
      field.value = varint();
      return true;
    case Kind::fixed64:
      field.value = fixed(8);
      return true;
    case Kind::fixed32:
      field.value = fixed(4);
      return true;
    case Kind::bytes: {
      const uint64_t length = varint();
      if (length > bytes_.size() - at_) {
        wrong(field.at, fmt::format("field {} declares {} bytes, but only {} follow", field.number, length,
                                    bytes_.size() - at_));
      }
      field.value = offset_ + at_;
      field.bytes = bytes_.substr(at_, length);
      at_ += length;
      return true;
    }
  }
  wrong(field.at, fmt::format("field {} has the unknown wire type {}", field.number, tag & 7));
}

void WireReader::expect(const Field& field, Kind kind, std::string_view what) const {
  if (field.kind != kind) {
    wrong(field.at, fmt::format("field {} must be {}, but has the wire type {}", field.number, what,
                                static_cast<int>(field.kind)));
  }
}

WireReader WireReader::inside(const Field& field) const {
  expect(field, Kind::bytes, "a message");
  return {field.bytes, field.value, *source_};
}

std::string_view WireReader::text(const Field& field) const {
  expect(field, Kind::bytes, "a text");
  if (const size_t invalid = find_invalid_utf8(field.bytes); invalid != std::string_view::npos)
    wrong(field.value + invalid, fmt::format("the text of field {} is not UTF-8", field.number));
  return field.bytes;
}

uint64_t WireReader::integer(const Field& field) const {
  expect(field, Kind::varint, "an integer");
  return field.value;
}

float WireReader::number(const Field& field) const {
  expect(field, Kind::fixed32, "a number of 32 bits");
  return std::bit_cast<float>(static_cast<uint32_t>(field.value));
}

}  // namespace modewise::io
