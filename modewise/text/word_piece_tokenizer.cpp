#include "modewise/text/word_piece_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"
#include "modewise/text/text_frame.h"
#include "modewise/text/unicode.h"
#include "modewise/text/white_space.h"

namespace modewise::text {
namespace {

constexpr io::BertNormalizing kUnchanged = {
    .clean_text = false, .space_chinese = false, .strip_accents = false, .lower_case = false};

bool stands_alone(char32_t c) {
  if (c < 0x80)
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
  return is_punctuation(c);
}

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

struct WordPieceTokenizer::Part {
  NormalizedText normalized;
  uint32_t offset;  // of the part in the text

  std::string_view text() const { return normalized.text; }
  /// The token of the normalized bytes from begin to end.
  Piece piece(Id id, size_t begin, size_t end) const {
    return {id, offset + normalized.sources[begin].begin, offset + normalized.sources[end - 1].end};
  }
};

WordPieceTokenizer::WordPieceTokenizer(io::TokenizerJson json, std::string hash, std::filesystem::path file)
    : Tokenizer(std::move(hash), std::move(file)),
      size_(json.size),
      vocabulary_(std::move(json.vocabulary)),
      rules_(std::move(json.word_piece.value())),
      normalizing_(rules_.normalizing.value_or(kUnchanged)),
      added_(std::move(json.added),
             [this](const std::string& content) { return bert_normalize(content, normalizing_).text; }),
      begin_(json.begin),
      end_(json.end),
      template_(std::move(json.around)) {}

std::string WordPieceTokenizer::name() const {
  return fmt::format("WordPiece, {} tokens", size_);
}

std::optional<TextFrame> WordPieceTokenizer::frame() const {
  if (template_.single.empty()) return std::nullopt;
  return made_frame(template_, added_, size_);
}

std::vector<Tokenizer::Id> WordPieceTokenizer::encode(std::string_view text) const {
  std::vector<Id> out;
  for (const Piece& piece : encode_pieces(text)) out.push_back(piece.id);
  return out;
}

std::vector<Tokenizer::Piece> WordPieceTokenizer::encode_pieces(std::string_view text) const {
  require(text.size() < std::numeric_limits<uint32_t>::max(), ErrorKind::data,
          "a text of {} bytes exceeds the limit of 4 GiB", text.size());
  std::vector<Piece> out;
  const auto encode_part = [&](size_t first, size_t last) {
    const Part part{bert_normalize(text.substr(first, last - first), normalizing_),
                    static_cast<uint32_t>(first)};
    added_.around(
        AddedTokens::Pass::normalized, part.text(),
        [&](size_t begin, size_t end) { add_words(part, begin, end, out); },
        [&](const AddedTokens::Token& token, size_t begin, size_t end) {
          out.push_back(part.piece(token.id, begin, end));
        });
  };
  added_.around(AddedTokens::Pass::raw, text, encode_part,
                [&](const AddedTokens::Token& token, size_t begin, size_t end) {
                  out.push_back({token.id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
                });
  return out;
}

void WordPieceTokenizer::add_words(const Part& part, size_t begin, size_t end,
                                   std::vector<Piece>& out) const {
  const std::string_view text = part.text();
  size_t word = begin;
  for (size_t at = begin; at < end;) {
    const size_t length = io::utf8_length(text.substr(at));
    const char32_t c = io::utf8_code_point(text.substr(at, length));
    const bool space = is_white_space(c);
    if (space || stands_alone(c)) {
      if (word < at) add_word(part, word, at, out);
      if (!space) add_word(part, at, at + length, out);
      word = at + length;
    }
    at += length;
  }
  if (word < end) add_word(part, word, end, out);
}

void WordPieceTokenizer::add_word(const Part& part, size_t begin, size_t end, std::vector<Piece>& out) const {
  const std::string_view text = part.text();
  const std::string_view word = text.substr(begin, end - begin);
  const size_t before = out.size();
  const auto characters =
      std::count_if(word.begin(), word.end(), [](char c) { return !continues_character(c); });
  bool known = characters <= rules_.longest_word;
  std::string rest;  // the continuation prefix and the rest of the word
  for (size_t from = begin; known && from < end;) {
    const bool first = from == begin;
    if (!first) rest = rules_.continuing + std::string(text.substr(from, end - from));
    const size_t mark = first ? 0 : rules_.continuing.size();
    const std::string_view sought = first ? word : std::string_view(rest);
    size_t length = std::min(sought.size(), vocabulary_.longest());
    std::optional<Id> id;
    while (length > mark && !id) {
      if (length == sought.size() || !continues_character(sought[length]))
        id = vocabulary_.find(sought.substr(0, length));
      if (!id) --length;
    }
    known = id.has_value();
    if (!known) break;
    out.push_back(part.piece(*id, from, from + length - mark));
    from += length - mark;
  }
  if (known) return;
  out.resize(before);
  out.push_back(part.piece(rules_.unknown, begin, end));
}

void WordPieceTokenizer::append_valid(Id id, bool& start, std::string& text) const {
  const AddedTokens::Token* added = added_.of_id(id);
  const std::string_view piece = added != nullptr          ? std::string_view(added->content)
                                 : id < vocabulary_.size() ? vocabulary_[id]
                                                           : std::string_view();
  const bool continues = !rules_.continuing.empty() && piece.starts_with(rules_.continuing) && !start;
  if (!continues && !start) text += ' ';
  text += continues ? piece.substr(rules_.continuing.size()) : piece;
  start = false;
}

}  // namespace modewise::text
