#include "modewise/text/tokenizer.h"

#include "modewise/core/error.h"

namespace modewise::text {

Tokenizer::~Tokenizer() = default;

void Tokenizer::append(Id id, bool& start, std::string& text) const {
  if (id < 0 || id >= size()) [[unlikely]]
    fail(ErrorKind::data, "token {} is none of the {} of the tokenizer ({})", id, size(), name());
  append_known(id, start, text);
}

std::string Tokenizer::decode(std::span<const Id> ids) const {
  std::string text;
  bool start = true;
  for (const Id id : ids) append(id, start, text);
  return text;
}

}  // namespace modewise::text
