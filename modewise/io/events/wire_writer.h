#pragma once
// Writer of the protocol buffer wire format, field by field (reader: io/tokenizers/wire_reader.h). The caller
// adds fields in the order of their numbers, as the library does, and omits those with default values.

#include <cstdint>
#include <string>
#include <string_view>

namespace modewise::io {

class WireWriter {
 public:
  WireWriter& integer(uint32_t field, int64_t value);  // int64, int32, enum
  WireWriter& number(uint32_t field, double value);
  WireWriter& number(uint32_t field, float value);
  /// A string, bytes, or a message.
  WireWriter& bytes(uint32_t field, std::string_view value);

  const std::string& message() const { return message_; }

 private:
  enum class Kind : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  void begin(uint32_t field, Kind kind);
  void varint(uint64_t value);

  std::string message_;
};

/// Appends the lowest `bytes` bytes of `value`, lowest first.
void append_little_endian(std::string& out, uint64_t value, int bytes);

}  // namespace modewise::io
