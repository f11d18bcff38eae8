#include "modewise/io/events/wire_writer.h"

#include <bit>

namespace modewise::io {

void append_little_endian(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> 8 * i));
}

void WireWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) message_.push_back(static_cast<char>(value | 0x80));
  message_.push_back(static_cast<char>(value));
}

void WireWriter::begin(uint32_t field, Kind kind) {
  varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(kind));
}

WireWriter& WireWriter::integer(uint32_t field, int64_t value) {
  begin(field, Kind::varint);
  varint(static_cast<uint64_t>(value));
  return *this;
}

WireWriter& WireWriter::number(uint32_t field, double value) {
  begin(field, Kind::fixed64);
  append_little_endian(message_, std::bit_cast<uint64_t>(value), 8);
  return *this;
}

WireWriter& WireWriter::number(uint32_t field, float value) {
  begin(field, Kind::fixed32);
  append_little_endian(message_, std::bit_cast<uint32_t>(value), 4);
  return *this;
}

WireWriter& WireWriter::bytes(uint32_t field, std::string_view value) {
  begin(field, Kind::bytes);
  varint(value.size());
  message_ += value;
  return *this;
}

}  // namespace modewise::io
