#include "modewise/io/tokenizers/llama2c_tokenizer.h"

#include <fmt/format.h>
#include "modewise/io/file_kind.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read in the byte order of the file");

constexpr int32_t kSmallestVocabulary = 3 + 256;

class Llama2cReader {
 public:
  Llama2cReader(std::span<const std::byte> bytes, const std::string& source)
      : bytes_(bytes), source_(source) {}

  Llama2cTokenizer read() {
    Llama2cTokenizer tokenizer{TokenTable(bytes_.size()), {}};
    longest_ = value<int32_t>("the longest piece's length");
    if (longest_ > TokenTable::kLongestPiece) refuse_other_kind(bytes_, source_, "a llama2.c tokenizer");
    require(longest_ > 0 && longest_ <= TokenTable::kLongestPiece, ErrorKind::data,
            "{}: not a llama2.c tokenizer: the longest piece is declared to have {} bytes; expected 1 to {}",
            source_, longest_, TokenTable::kLongestPiece);
    while (at_ < bytes_.size()) read_piece(tokenizer);
    check(tokenizer);
    return tokenizer;
  }

 private:
  template <class T>
  T value(std::string_view what) {
    require(bytes_.size() - at_ >= sizeof(T), ErrorKind::data,
            "{}: the tokenizer ends at byte {}, within {} (piece {})", source_, bytes_.size(), what, id_);
    T number;
    std::memcpy(&number, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return number;
  }

  void read_piece(Llama2cTokenizer& tokenizer) {
    const size_t begin = at_;
    require(id_ < TokenTable::kMaxTokens, ErrorKind::data, "{}: more than {} pieces", source_,
            TokenTable::kMaxTokens);
    const auto score = value<float>("a score");
    const auto length = value<int32_t>("a piece's length");
    require(std::isfinite(score), ErrorKind::data,
            "{}: piece {} at byte {} has the score {}; expected a finite number", source_, id_, begin, score);
    require(length > 0 && length <= longest_, ErrorKind::data,
            "{}: piece {} at byte {} is declared to have {} bytes; expected 1 to {}, the declared maximum",
            source_, id_, begin, length, longest_);
    const auto size = static_cast<size_t>(length);
    require(bytes_.size() - at_ >= size, ErrorKind::data,
            "{}: piece {} at byte {} is declared to have {} bytes, but the file ends after {} of them",
            source_, id_, begin, length, bytes_.size() - at_);
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    const auto earlier = tokenizer.pieces.find(text);
    if (earlier) {
      fail(ErrorKind::data, "{}: piece {} at byte {}, {}, is a duplicate of piece {}", source_, id_, begin,
           quote_for_message(text), *earlier);
    }
    tokenizer.pieces.add(id_++, text);
    tokenizer.scores.push_back(score);
  }

  void check(const Llama2cTokenizer& tokenizer) const {
    require(id_ >= kSmallestVocabulary, ErrorKind::data,
            "{}: the tokenizer ends after {} pieces; <unk>, <s>, </s> and 256 bytes need at least {}",
            source_, id_, kSmallestVocabulary);
    for (int byte = 0; byte < 256; ++byte) {
      const int32_t id = tokenizer.first_byte + byte;
      require(tokenizer.pieces[id] == byte_piece(byte), ErrorKind::data,
              "{}: piece {} must be {} (llama2.c writes the bytes there), but it is {}", source_, id,
              byte_piece(byte), quote_for_message(tokenizer.pieces[id]));
    }
    require(
        static_cast<int32_t>(tokenizer.pieces.longest()) == longest_, ErrorKind::data,
        "{}: the longest piece is declared to have {} bytes, but it has {}: the file is truncated or damaged",
        source_, longest_, tokenizer.pieces.longest());
  }

  std::span<const std::byte> bytes_;
  const std::string& source_;
  size_t at_ = 0;
  int32_t id_ = 0, longest_ = 0;
};

}  // namespace

std::string byte_piece(int byte) {
  return fmt::format("<0x{:02X}>", byte);
}

Llama2cTokenizer parse_llama2c_tokenizer(std::span<const std::byte> bytes, const std::string& source) {
  return Llama2cReader(bytes, source).read();
}

}  // namespace modewise::io
