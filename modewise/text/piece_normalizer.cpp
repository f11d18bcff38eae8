#include "modewise/text/piece_normalizer.h"

#include "modewise/io/tokenizers/character_map.h"
#include "modewise/io/utf8.h"

namespace modewise::text {

PieceNormalizer::PieceNormalizer(const io::SentencePieceModel& model, Protect protect)
    : model_(&model), protect_(std::move(protect)) {}

PieceNormalizer::Prefix PieceNormalizer::prefix(std::string_view text) const {
  if (protect_) {
    if (const size_t length = protect_(text); length > 0) return {text.substr(0, length), length};
  }
  if (!model_->character_map.empty()) {
    if (const auto rule = io::CharacterMap(model_->character_map).longest(text))
      return {rule->becomes, rule->bytes};
  }
  if (const size_t length = io::utf8_length(text); length > 0) return {text.substr(0, length), length};
  // With byte pieces invalid bytes are kept; sentencepiece itself loses them.
  return {model_->byte_fallback ? text.substr(0, 1) : std::string_view("\xEF\xBF\xBD"), 1};
}

void PieceNormalizer::add_space(std::string& normalized) const {
  normalized += model_->escape_whitespaces ? io::kSpacePiece : std::string_view(" ");
}

std::string PieceNormalizer::operator()(std::string_view text, bool dummy_prefix) const {
  const bool once = model_->remove_extra_whitespaces;
  while (once && !text.empty()) {
    const Prefix next = prefix(text);
    if (next.becomes != " ") break;
    text.remove_prefix(next.bytes);
  }
  std::string normalized;
  if (text.empty()) return normalized;
  normalized.reserve(text.size() + text.size() / 2);
  const bool dummy = dummy_prefix && model_->add_dummy_prefix;
  if (dummy && !model_->whitespace_as_suffix) add_space(normalized);
  for (bool after_space = once; !text.empty();) {
    const Prefix next = prefix(text);
    text.remove_prefix(next.bytes);
    std::string_view becomes = next.becomes;
    while (after_space && becomes.starts_with(' ')) becomes.remove_prefix(1);
    if (becomes.empty()) continue;
    for (const char c : becomes) {
      if (c == ' ')
        add_space(normalized);
      else
        normalized += c;
    }
    after_space = once && becomes.ends_with(' ');
  }
  const std::string_view space = model_->escape_whitespaces ? io::kSpacePiece : std::string_view(" ");
  while (once && normalized.ends_with(space)) normalized.resize(normalized.size() - space.size());
  if (dummy && model_->whitespace_as_suffix) add_space(normalized);
  return normalized;
}

}  // namespace modewise::text
