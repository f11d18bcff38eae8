#include "modewise/text/byte_tokenizer.h"

#include "modewise/core/file.h"
#include "modewise/core/hash.h"

namespace modewise::text {

ByteTokenizer::ByteTokenizer() : Tokenizer(content_hash(as_bytes("bytes and one mark")), {}) {}

std::vector<Tokenizer::Id> ByteTokenizer::encode(std::string_view text) const {
  std::vector<Id> ids(text.size());
  for (size_t i = 0; i < text.size(); ++i) ids[i] = static_cast<unsigned char>(text[i]);
  return ids;
}

void ByteTokenizer::append_valid(Id id, bool& start, std::string& text) const {
  if (id == kMark) return;
  text += static_cast<char>(id);
  start = false;
}

}  // namespace modewise::text
