#pragma once
// The wire format of protocol buffers, written field by field (its reader: io/tokenizers/wire_reader.h).
// Fields go in the order of their numbers, as the library writes them; those that hold their default are left
// out by the caller.

#include <cstdint>
#include <string>
#include <string_view>

namespace modewise::io {

class WireWriter {
 public:
  WireWriter& integer(uint32_t field, int64_t value);  // int64, int32, enum
  WireWriter& number(uint32_t field, double value);
  WireWriter& number(uint32_t field, float value);
  /// A text, bytes, or a message.
  WireWriter& bytes(uint32_t field, std::string_view value);

  const std::string& message() const { return message_; }

 private:
  enum class Kind : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  void begin(uint32_t field, Kind kind);
  void varint(uint64_t value);

  std::string message_;
};

/// `value` from its lowest byte up, `bytes` of them.
void append_little_endian(std::string& out, uint64_t value, int bytes);

}  // namespace modewise::io
