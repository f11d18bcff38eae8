#include "modewise/text/tokenizer.h"

#include <limits>

#include "modewise/core/error.h"

namespace modewise::text {

Tokenizer::~Tokenizer() = default;

std::vector<Tokenizer::Piece> Tokenizer::encode_pieces(std::string_view text) const {
  require(text.size() < std::numeric_limits<uint32_t>::max(), ErrorKind::data,
          "a text of {} bytes exceeds the limit of 4 GiB", text.size());
  std::vector<Piece> out;
  bool start = true;
  uint32_t at = 0;
  for (const Id id : encode(text)) {
    std::string bytes;
    append(id, start, bytes);
    std::string_view shown = bytes;
    if (at == 0 && shown.starts_with(' ') && !text.starts_with(' '))
      shown.remove_prefix(1);  // prepended by encode
    const bool found = text.substr(at).starts_with(shown);
    const auto end = found ? at + static_cast<uint32_t>(shown.size()) : at;
    out.push_back({id, at, end});
    at = end;
  }
  return out;
}

void Tokenizer::append(Id id, bool& start, std::string& text) const {
  if (id < 0 || id >= size()) [[unlikely]]
    fail(ErrorKind::data, "token id {} is outside the vocabulary of {} tokens ({})", id, size(), name());
  append_valid(id, start, text);
}

std::string Tokenizer::token_text(Id id) const {
  std::string text;
  bool start = false;
  append(id, start, text);
  return text;
}

std::optional<Tokenizer::Id> Tokenizer::begin_before_text() const {
  const std::vector<Id> all = tokens_before_text();
  require(all.size() <= 1, ErrorKind::data,
          "{}: its post-processor puts {} tokens before a text, of which only one is supported; --bos no "
          "(data.begin_token) puts none, --bos yes the first",
          file_.string(), all.size());
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::string Tokenizer::file_name() const {
  return file_.extension() == ".txt" ? "vocab.txt" : "tokenizer" + file_.extension().string();
}

std::string Tokenizer::decode(std::span<const Id> ids) const {
  std::string text;
  bool start = true;
  for (const Id id : ids) append(id, start, text);
  return text;
}

}  // namespace modewise::text
