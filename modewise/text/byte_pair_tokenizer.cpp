#include "modewise/text/byte_pair_tokenizer.h"

#include <fmt/format.h>

#include <limits>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"
#include "modewise/text/text_frame.h"

namespace modewise::text {
namespace {

using Pass = AddedTokens::Pass;

// Begin and end tokens if the post-processor has none, in order of preference.
constexpr std::array<std::string_view, 4> kBeginNames = {"<|begin_of_text|>", "<s>", "<bos>",
                                                         "<|endoftext|>"};
constexpr std::array<std::string_view, 4> kEndNames = {"<|end_of_text|>", "</s>", "<eos>", "<|endoftext|>"};

}  // namespace

struct BytePairTokenizer::Encoding {
  explicit Encoding(WordCaches& caches) : cache(caches) {}
  WordCaches::BorrowedCache cache;
  SplitPattern::Workspace workspace;
  std::vector<Id> ids;
  std::vector<Symbol> symbols;
  std::vector<std::optional<Merge<int32_t>>> merges;
};

BytePairTokenizer::BytePairTokenizer(io::TokenizerJson json, const std::string& source, std::string hash,
                                     std::filesystem::path file)
    : Tokenizer(std::move(hash), std::move(file)),
      size_(json.size),
      vocabulary_(std::move(json.vocabulary)),
      added_(std::move(json.added), [](const std::string& content) { return content; }),
      merges_(json.merges),
      splitter_(std::move(json.steps), source),
      ignore_merges_(json.ignore_merges),
      begin_(json.begin),
      end_(json.end),
      template_(std::move(json.around)) {
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const char text = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary_.find({&text, 1}).value();
  }
  for (const std::string_view content : kBeginNames) begin_ = begin_ ? begin_ : added_.special(content);
  for (const std::string_view content : kEndNames) end_ = end_ ? end_ : added_.special(content);
}

BytePairTokenizer::~BytePairTokenizer() = default;

std::string BytePairTokenizer::name() const {
  return fmt::format("byte-level BPE, {} tokens", size_);
}

std::optional<TextFrame> BytePairTokenizer::frame() const {
  if (template_.single.empty()) return std::nullopt;
  return made_frame(template_, added_, size_);
}

std::vector<Tokenizer::Id> BytePairTokenizer::encode(std::string_view text) const {
  Encoding encoding(caches_);
  encoding.ids.reserve(text.size() / 3);
  encode_around(Pass::raw, text, encoding);
  return std::move(encoding.ids);
}

// Matches the added tokens of a pass in `text`; the text between them goes to the next pass.
void BytePairTokenizer::encode_around(Pass pass, std::string_view text, Encoding& encoding) const {
  added_.around(
      pass, text,
      [&](size_t begin, size_t end) {
        const std::string_view part = text.substr(begin, end - begin);
        if (pass == Pass::raw)
          encode_around(Pass::normalized, part, encoding);
        else
          encode_text(part, encoding);
      },
      [&](const AddedTokens::Token& token, size_t, size_t) { encoding.ids.push_back(token.id); });
}

void BytePairTokenizer::encode_text(std::string_view text, Encoding& encoding) const {
  const WordSplitter::Word word = [&](std::string_view one) { encode_word(one, encoding); };
  while (!text.empty()) {
    const std::string_view valid = text.substr(0, io::find_invalid_utf8(text));
    splitter_.split(valid, encoding.workspace, word);
    text.remove_prefix(valid.size());
    size_t invalid = 0;
    while (invalid < text.size() && io::utf8_length(text.substr(invalid)) == 0) ++invalid;
    if (invalid > 0) encode_word(text.substr(0, invalid), encoding);
    text.remove_prefix(invalid);
  }
}

void BytePairTokenizer::encode_word(std::string_view word, Encoding& encoding) const {
  if (!WordCache::holds(word)) {
    merge_word(word, encoding);
    return;
  }
  const uint64_t hash = io::text_hash(word);
  if (const std::span<const Id> known = encoding.cache->find(word, hash); !known.empty()) {
    encoding.ids.insert(encoding.ids.end(), known.begin(), known.end());
    return;
  }
  const size_t before = encoding.ids.size();
  merge_word(word, encoding);
  encoding.cache->keep(word, hash, std::span(encoding.ids).subspan(before));
}

void BytePairTokenizer::merge_word(std::string_view word, Encoding& encoding) const {
  require(word.size() < std::numeric_limits<uint32_t>::max(), ErrorKind::data,
          "a word of {} bytes exceeds the limit of 4 GiB", word.size());
  if (ignore_merges_) {
    if (const std::optional<Id> whole = vocabulary_.find(word)) {
      encoding.ids.push_back(*whole);
      return;
    }
  }
  encoding.symbols.resize(word.size());
  for (size_t i = 0; i < word.size(); ++i)
    encoding.symbols[i] = {byte_ids_[static_cast<unsigned char>(word[i])], static_cast<uint32_t>(i), 1};
  merge_symbols<int32_t>(encoding.symbols, encoding.merges, [&](const Symbol& left, const Symbol& right) {
    return merges_.find(left.id, right.id);
  });
  for (const Symbol& symbol : encoding.symbols) encoding.ids.push_back(symbol.id);
}

void BytePairTokenizer::append_valid(Id id, bool& start, std::string& text) const {
  start = false;
  if (const AddedTokens::Token* added = added_.of_id(id))
    text += added->content;
  else if (id < vocabulary_.size())
    text += vocabulary_[id];
}

}  // namespace modewise::text
