#include "modewise/text/metaspace_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/io/tokenizers/llama2c_tokenizer.h"
#include "modewise/io/tokenizers/sentencepiece_model.h"
#include "modewise/io/utf8.h"
#include "modewise/text/text_frame.h"

namespace modewise::text {
namespace {

using Pass = AddedTokens::Pass;
using Prepend = io::MetaspaceRules::Prepend;

constexpr std::string_view kSpace = io::kSpacePiece;
constexpr std::array<std::string_view, 2> kMetaspaceBegins = {"<s>", "<bos>"};
constexpr std::array<std::string_view, 2> kMetaspaceEnds = {"</s>", "<eos>"};

std::string with_space_pieces(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (const char c : text) c == ' ' ? out += kSpace : out += c;
  return out;
}

}  // namespace

struct MetaspaceTokenizer::Encoding {
  explicit Encoding(WordCaches& caches) : cache(caches) {}
  WordCaches::BorrowedCache cache;
  std::vector<Id> ids;
  std::vector<Symbol> symbols;
  std::vector<std::optional<Merge<int32_t>>> merges;
};

MetaspaceTokenizer::MetaspaceTokenizer(io::TokenizerJson json, std::string hash, std::filesystem::path file)
    : Tokenizer(std::move(hash), std::move(file)),
      size_(json.size),
      vocabulary_(std::move(json.vocabulary)),
      rules_(json.metaspace.value()),
      added_(std::move(json.added), [this](const std::string& content) { return normalized(content); }),
      bytes_(static_cast<size_t>(size_), -1),
      merges_(json.merges),
      ignore_merges_(json.ignore_merges),
      words_part_(rules_.split),
      begin_(json.begin),
      end_(json.end),
      template_(std::move(json.around)) {
  for (int byte = 0; byte < 256; ++byte) {
    const Id id = vocabulary_.find(io::byte_piece(byte)).value();
    byte_ids_[static_cast<size_t>(byte)] = id;
    bytes_[static_cast<size_t>(id)] = static_cast<int16_t>(byte);
  }
  words_part_ = rules_.split || words_part();
  for (const std::string_view content : kMetaspaceBegins) begin_ = begin_ ? begin_ : added_.special(content);
  for (const std::string_view content : kMetaspaceEnds) end_ = end_ ? end_ : added_.special(content);
}

std::string MetaspaceTokenizer::name() const {
  return fmt::format("BPE with byte fallback, {} tokens", size_);
}

std::optional<TextFrame> MetaspaceTokenizer::frame() const {
  if (template_.single.empty()) return std::nullopt;
  return made_frame(template_, added_, size_);
}

/// Whether no token has a space after another character.
bool MetaspaceTokenizer::words_part() const {
  for (Id id = 0; id < vocabulary_.size(); ++id) {
    std::string_view rest = vocabulary_[id];
    while (rest.starts_with(kSpace)) rest.remove_prefix(kSpace.size());
    if (rest.find(kSpace) != std::string_view::npos) return false;
  }
  return true;
}

/// The normalized text between added tokens; Metaspace is a pre-tokenizer and comes later.
std::string MetaspaceTokenizer::normalized(std::string_view text) const {
  std::string out = rules_.normalizes ? with_space_pieces(text) : std::string(text);
  if (rules_.prepend == Prepend::always && !out.empty()) out.insert(0, kSpace);
  return out;
}

std::vector<Tokenizer::Id> MetaspaceTokenizer::encode(std::string_view text) const {
  Encoding encoding(caches_);
  encoding.ids.reserve(text.size() / 3);
  const auto add_token = [&](const AddedTokens::Token& token, size_t, size_t) {
    encoding.ids.push_back(token.id);
  };
  added_.around(
      Pass::raw, text,
      [&](size_t begin, size_t end) {
        const std::string part = normalized(text.substr(begin, end - begin));
        added_.around(
            Pass::normalized, part,
            [&](size_t from, size_t to) {
              encode_part(std::string_view(part).substr(from, to - from), begin + from == 0, encoding);
            },
            add_token);
      },
      add_token);
  return std::move(encoding.ids);
}

void MetaspaceTokenizer::encode_part(std::string_view text, bool first, Encoding& encoding) const {
  std::string spaced = with_space_pieces(text);
  const bool wanted = rules_.prepend == Prepend::missing || (rules_.prepend == Prepend::first && first);
  if (wanted && !spaced.starts_with(kSpace)) spaced.insert(0, kSpace);
  if (words_part_)
    encode_words(spaced, encoding);
  else
    merge_word(spaced, encoding);
}

void MetaspaceTokenizer::encode_words(std::string_view text, Encoding& encoding) const {
  while (!text.empty()) {
    size_t first = 0;  // the spaces before a word belong to it; with split only the last
    while (text.substr(first).starts_with(kSpace)) {
      first += kSpace.size();
      if (rules_.split) break;
    }
    const std::string_view word = text.substr(0, text.find(kSpace, first));
    text.remove_prefix(word.size());
    if (!WordCache::holds(word)) {
      merge_word(word, encoding);
      continue;
    }
    const uint64_t hash = io::text_hash(word);
    if (const std::span<const Id> known = encoding.cache->find(word, hash); !known.empty()) {
      encoding.ids.insert(encoding.ids.end(), known.begin(), known.end());
      continue;
    }
    const size_t before = encoding.ids.size();
    merge_word(word, encoding);
    encoding.cache->keep(word, hash, std::span(encoding.ids).subspan(before));
  }
}

void MetaspaceTokenizer::merge_word(std::string_view word, Encoding& encoding) const {
  require(word.size() < std::numeric_limits<uint32_t>::max(), ErrorKind::data,
          "a text of {} bytes exceeds the limit of 4 GiB", word.size());
  if (ignore_merges_) {
    if (const std::optional<Id> whole = vocabulary_.find(word)) {
      encoding.ids.push_back(*whole);
      return;
    }
  }
  encoding.symbols.clear();
  for (size_t at = 0; at < word.size();) {
    const size_t length = std::max<size_t>(1, io::utf8_length(word.substr(at)));
    const auto begin = static_cast<uint32_t>(at);
    if (const std::optional<Id> id = vocabulary_.find(word.substr(at, length)))
      encoding.symbols.push_back({*id, begin, static_cast<uint32_t>(length)});
    else
      for (uint32_t i = 0; i < length; ++i)
        encoding.symbols.push_back({byte_ids_[static_cast<unsigned char>(word[at + i])], begin + i, 1});
    at += length;
  }
  merge_symbols<int32_t>(encoding.symbols, encoding.merges, [&](const Symbol& left, const Symbol& right) {
    return merges_.find(left.id, right.id);
  });
  for (const Symbol& symbol : encoding.symbols) encoding.ids.push_back(symbol.id);
}

void MetaspaceTokenizer::append_valid(Id id, bool& start, std::string& text) const {
  std::string spelled;  // of an added token that is matched in the normalized text
  const AddedTokens::Token* added = added_.of_id(id);
  if (added != nullptr && !added->normalized) {
    text += added->content;
    start = false;
    return;
  }
  if (added != nullptr) spelled = normalized(added->content);
  if (const int16_t byte = bytes_[static_cast<size_t>(id)]; byte >= 0) {
    text += static_cast<char>(byte);
    start = false;
    return;
  }
  std::string_view rest = spelled;
  if (added == nullptr && id < vocabulary_.size()) rest = vocabulary_[id];
  const bool first = start && !rest.empty();
  if (first) start = false;
  if (first && rules_.strip_space && rest.starts_with(kSpace)) rest.remove_prefix(kSpace.size());
  while (!rest.empty()) {
    const size_t space = rest.find(kSpace);
    text += rest.substr(0, space);
    if (space == std::string_view::npos) break;
    text += ' ';
    rest.remove_prefix(space + kSpace.size());
  }
}

}  // namespace modewise::text
