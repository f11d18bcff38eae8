#pragma once
// Byte tokenizer: one token per byte, plus one separator token.

#include "modewise/text/tokenizer.h"

namespace modewise::text {

/// Ids 0 to 255 are the bytes; 256 begins and ends a text.
class ByteTokenizer final : public Tokenizer {
 public:
  static constexpr Id kMark = 256;

  ByteTokenizer();
  int64_t size() const override { return kMark + 1; }
  std::vector<Id> encode(std::string_view text) const override;
  std::optional<Id> begin_id() const override { return kMark; }
  std::optional<Id> end_id() const override { return kMark; }
  std::string name() const override { return "bytes"; }

 private:
  void append_valid(Id id, bool& start, std::string& text) const override;
};

}  // namespace modewise::text
