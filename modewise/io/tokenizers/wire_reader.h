#pragma once
// Reader of the protocol buffer wire format, field by field, without the protobuf library. Lengths are
// checked before use, and nothing is allocated.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace modewise::io {

class WireReader {
 public:
  enum class Kind : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  struct Field {
    uint32_t number = 0;
    Kind kind = Kind::varint;
    size_t at = 0;           // offset in the file
    uint64_t value = 0;      // varint, fixed32, fixed64
    std::string_view bytes;  // bytes: a string or a message
  };

  /// Reads the message `bytes` at `offset` of the file `source`, which must outlive this.
  WireReader(std::string_view bytes, size_t offset, const std::string& source)
      : bytes_(bytes), offset_(offset), source_(&source) {}
  /// Reader of the message in a field.
  WireReader inside(const Field& field) const;

  /// Reads the next field; false at the end of the message. Throws data errors with the offset.
  bool next(Field& field);

  std::string_view text(const Field& field) const;  // valid UTF-8
  uint64_t integer(const Field& field) const;
  bool boolean(const Field& field) const { return integer(field) != 0; }
  float number(const Field& field) const;

  [[noreturn]] void wrong(size_t at, std::string_view what) const;

 private:
  uint64_t varint();
  uint64_t fixed(size_t bytes);
  void expect(const Field& field, Kind kind, std::string_view what) const;

  std::string_view bytes_;
  size_t offset_, at_ = 0;
  const std::string* source_;
};

}  // namespace modewise::io
