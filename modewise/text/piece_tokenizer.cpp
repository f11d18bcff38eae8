#include "modewise/text/piece_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"
#include "modewise/text/pair_merging.h"
#include "modewise/text/unigram_paths.h"

namespace modewise::text {
namespace {

constexpr int32_t kWhole = -2;            // a symbol that never merges
constexpr float kLlama2cLowest = -1e10f;  // llama2.c merges only above this score

io::SentencePieceModel model_of(io::Llama2cTokenizer tokenizer) {
  using Type = io::SentencePieceModel::Type;
  io::SentencePieceModel model;
  model.algorithm = io::SentencePieceModel::Algorithm::bpe;
  model.types.assign(static_cast<size_t>(tokenizer.pieces.size()), Type::normal);
  model.types[0] = Type::unknown;
  model.types[1] = model.types[2] = Type::control;
  std::fill_n(model.types.begin() + tokenizer.first_byte, 256, Type::byte);
  model.pieces = std::move(tokenizer.pieces);
  model.scores = std::move(tokenizer.scores);
  model.byte_fallback = true;
  model.remove_extra_whitespaces = model.escape_whitespaces = false;
  model.unknown_text = "<unk>";
  model.begin = 1;
  model.end = 2;
  return model;
}

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// llama2.c reads a character as one byte and up to three bytes of the form 10xxxxxx, regardless of the first
// byte.
size_t llama2c_character(std::string_view text) {
  size_t length = 1;
  while (length < std::min<size_t>(4, text.size()) && continues_character(text[length])) ++length;
  return length;
}

// The byte of "<0x0A>".
unsigned char byte_of(std::string_view piece) {
  unsigned value = 0;
  std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  return static_cast<unsigned char>(value);
}

}  // namespace

PieceTokenizer::PieceTokenizer(Model model, std::string hash, std::filesystem::path file,
                               PieceAdditions additions)
    : PieceTokenizer(std::move(model), Origin::sentencepiece, std::move(hash), std::move(file),
                     std::move(additions)) {}

PieceTokenizer::PieceTokenizer(io::Llama2cTokenizer tokenizer, std::string hash, std::filesystem::path file)
    : PieceTokenizer(model_of(std::move(tokenizer)), Origin::llama2c, std::move(hash), std::move(file), {}) {}

PieceTokenizer::PieceTokenizer(Model model, Origin origin, std::string hash, std::filesystem::path file,
                               PieceAdditions additions)
    : Tokenizer(std::move(hash), std::move(file)),
      model_(std::move(model)),
      origin_(origin),
      added_(std::move(additions.tokens), [](const std::string& content) { return content; }),
      prefix_after_(additions.prefix_after),
      size_(model_.pieces.size()),
      space_(model_.escape_whitespaces ? io::kSpacePiece : std::string_view(" ")),
      normalizer_(model_, {}) {
  byte_ids_.fill(-1);
  for (const AddedTokens::Token& token : added_.list()) size_ = std::max(size_, token.id + 1);
  std::vector<Id> user_defined;
  for (Id id = 0; id < model_.pieces.size(); ++id) {
    const std::string_view text = piece(id);
    if (type(id) == Type::byte) byte_ids_[byte_of(text)] = id;
    if (type(id) == Type::user_defined) user_defined.push_back(id);
  }
  user_defined_ = PrefixIndex(std::move(user_defined), [this](Id id) { return piece(id); });
  if (!user_defined_.empty())
    normalizer_ =
        PieceNormalizer(model_, [this](std::string_view text) { return user_defined_length(text); });
  if (model_.algorithm == Model::Algorithm::unigram)
    paths_ = std::make_unique<UnigramPaths>(model_);
  else
    words_part_ = words_part();
}

PieceTokenizer::~PieceTokenizer() = default;

std::string PieceTokenizer::name() const {
  const char* what = origin_ == Origin::llama2c                      ? "llama2.c"
                     : model_.algorithm == Model::Algorithm::unigram ? "sentencepiece unigram"
                                                                     : "sentencepiece BPE";
  return fmt::format("{}, {} tokens", what, size());
}

std::optional<Tokenizer::Id> PieceTokenizer::find(std::string_view text) const {
  const std::optional<Id> id = model_.pieces.find(text);
  if (!id || (type(*id) != Type::normal && type(*id) != Type::user_defined)) return std::nullopt;
  return id;
}

size_t PieceTokenizer::user_defined_length(std::string_view text) const {
  size_t longest = 0;
  user_defined_.visit(
      text, [this](Id id) { return piece(id); }, [&](size_t length, Id) { longest = length; });
  return longest;
}

bool PieceTokenizer::words_part() const {
  for (Id id = 0; id < model_.pieces.size(); ++id) {
    if (type(id) != Type::normal && type(id) != Type::user_defined) continue;
    std::string_view rest = piece(id);
    while (rest.starts_with(space_)) rest.remove_prefix(space_.size());
    if (rest.find(space_) != std::string_view::npos) return false;
  }
  return true;
}

std::string PieceTokenizer::token_text(Id id) const {
  const AddedTokens::Token* added = added_.of_id(id);
  return added != nullptr ? added->content : std::string(piece(id));
}

std::vector<Tokenizer::Id> PieceTokenizer::encode(std::string_view text) const {
  using Pass = AddedTokens::Pass;
  std::vector<Id> ids;
  ids.reserve(text.size() / 3);
  const auto add_token = [&](const AddedTokens::Token& token, size_t, size_t) { ids.push_back(token.id); };
  added_.around(
      Pass::raw, text,
      [&](size_t begin, size_t end) {
        const std::string_view part = text.substr(begin, end - begin);
        added_.around(
            Pass::normalized, part,
            [&](size_t from, size_t to) {
              encode_part(part.substr(from, to - from), begin + from == 0, ids);
            },
            add_token);
      },
      add_token);
  return ids;
}

/// Encodes the text between added tokens.
void PieceTokenizer::encode_part(std::string_view text, bool first, std::vector<Id>& ids) const {
  std::string normalized = normalizer_(text, first || (prefix_after_ && !text.starts_with(' ')));
  if (origin_ == Origin::llama2c && !text.empty() && continues_character(text[0])) {
    // In llama2.c the prepended space is a separate character without bytes in the text.
    emit(" ", find(" "), ids);
    normalized.erase(0, 1);
  }
  if (paths_) {
    paths_->best(normalized, [&](std::string_view span, Id id) {
      emit(span, id == model_.unknown ? std::nullopt : std::optional(id), ids);
    });
  } else if (words_part_) {
    encode_words(normalized, ids);
  } else {
    encode_pairs(normalized, ids);
  }
}

void PieceTokenizer::emit(std::string_view text, std::optional<Id> id, std::vector<Id>& ids) const {
  if (id) {
    ids.push_back(*id);
  } else if (model_.byte_fallback) {
    for (const char c : text) ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
  } else if (ids.empty() || ids.back() != model_.unknown) {  // a run of unknown characters is one token
    ids.push_back(model_.unknown);
  }
}

// No merge joins a word and the space that begins the next one, so words can be encoded one by one and
// cached.
void PieceTokenizer::encode_words(std::string_view text, std::vector<Id>& ids) const {
  WordCaches::BorrowedCache cache(caches_);
  std::vector<Id> fresh;
  while (!text.empty()) {
    size_t first = 0;
    while (text.substr(first).starts_with(space_)) first += space_.size();
    const std::string_view word = text.substr(0, text.find(space_, first));
    text.remove_prefix(word.size());
    const bool short_word = WordCache::holds(word);
    const uint64_t hash = short_word ? io::text_hash(word) : 0;
    std::span<const Id> known;
    if (short_word) known = cache->find(word, hash);
    if (known.empty()) {
      fresh.clear();
      encode_pairs(word, fresh);
      if (short_word) cache->keep(word, hash, fresh);
      known = fresh;
    }
    const bool goes_on = !model_.byte_fallback && !ids.empty() && ids.back() == model_.unknown &&
                         known.front() == model_.unknown;
    ids.insert(ids.end(), known.begin() + (goes_on ? 1 : 0), known.end());
  }
}

void PieceTokenizer::encode_pairs(std::string_view text, std::vector<Id>& ids) const {
  require(text.size() < std::numeric_limits<uint32_t>::max(), ErrorKind::data,
          "a text of {} bytes exceeds the limit of 4 GiB", text.size());
  std::vector<Symbol> symbols;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const size_t user_defined = user_defined_length(rest);
    const size_t length = user_defined > 0             ? user_defined
                          : origin_ == Origin::llama2c ? llama2c_character(rest)
                                                       : std::max<size_t>(1, io::utf8_length(rest));
    const std::optional<Id> id = find(rest.substr(0, length));
    const bool whole = user_defined > 0 || (origin_ == Origin::llama2c && !id);
    symbols.push_back(
        {whole ? kWhole : id.value_or(-1), static_cast<uint32_t>(at), static_cast<uint32_t>(length)});
    at += length;
  }
  std::vector<std::optional<Merge<float>>> merges;
  merge_symbols<float>(
      symbols, merges, [&](const Symbol& left, const Symbol& right) -> std::optional<Merge<float>> {
        if (left.id == kWhole || right.id == kWhole) return std::nullopt;
        const std::optional<Id> id = find(text.substr(left.begin, left.length + right.length));
        if (!id || (origin_ == Origin::llama2c && score(*id) <= kLlama2cLowest)) return std::nullopt;
        return Merge<float>{-score(*id), *id};
      });
  for (const Symbol& symbol : symbols) {
    const std::string_view span = text.substr(symbol.begin, symbol.length);
    emit(span, symbol.id >= 0 ? std::optional(symbol.id) : find(span), ids);
  }
}

void PieceTokenizer::append_valid(Id id, bool& start, std::string& text) const {
  if (id >= model_.pieces.size()) {
    const AddedTokens::Token* added = added_.of_id(id);
    if (added != nullptr) text += added->content;
    start = start && added == nullptr;
    return;
  }
  if (type(id) == Type::control) return;
  if (type(id) == Type::unknown) {
    text += model_.unknown_text;
    start = start && model_.unknown_text.empty();
    return;
  }
  std::string_view rest = piece(id);
  if (type(id) == Type::byte) {
    text += static_cast<char>(byte_of(rest));
    start = false;
    return;
  }
  if (start && (model_.add_dummy_prefix || model_.remove_extra_whitespaces) && rest.starts_with(space_)) {
    rest.remove_prefix(space_.size());
    // One space was prepended; if extra white space is removed, no space at the start was in the text.
    start = model_.remove_extra_whitespaces;
  }
  if (!rest.empty()) start = false;
  while (!rest.empty()) {
    const size_t space = rest.find(space_);
    text += rest.substr(0, space);
    if (space == std::string_view::npos) break;
    text += ' ';
    rest.remove_prefix(space + space_.size());
  }
}

}  // namespace modewise::text
