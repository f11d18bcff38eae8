#include "modewise/text/byte_pair_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"
#include "modewise/text/white_space.h"

namespace modewise::text {
namespace {

using AddedToken = io::TokenizerJson::AddedToken;

// What opens and closes texts where the post-processor names nothing, in the order of preference.
constexpr std::array<std::string_view, 4> kBeginNames = {"<|begin_of_text|>", "<s>", "<bos>",
                                                         "<|endoftext|>"};
constexpr std::array<std::string_view, 4> kEndNames = {"<|end_of_text|>", "</s>", "<eos>", "<|endoftext|>"};

}  // namespace

struct BytePairTokenizer::Encoding {
  explicit Encoding(WordCaches& caches) : cache(caches) {}
  WordCaches::Loan cache;
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
      added_(std::move(json.added)),
      merges_(json.merges),
      splitter_(std::move(json.steps), source),
      ignore_merges_(json.ignore_merges),
      begin_(json.begin),
      end_(json.end) {
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const char text = static_cast<char>(byte);
    byte_ids_[byte] = vocabulary_.find({&text, 1}).value();
  }
  std::array<std::vector<int32_t>, 2> of_pass;
  for (size_t i = 0; i < added_.size(); ++i) {
    of_pass[added_[i].normalized ? 1 : 0].push_back(static_cast<int32_t>(i));
    added_by_id_.push_back(i);
  }
  for (size_t pass = 0; pass < passes_.size(); ++pass)
    passes_[pass] = PrefixIndex(std::move(of_pass[pass]), [this](int32_t i) { return content_of(i); });
  std::sort(added_by_id_.begin(), added_by_id_.end(),
            [&](size_t a, size_t b) { return added_[a].id < added_[b].id; });
  const auto special = [&](std::string_view content) -> std::optional<Id> {
    for (const AddedToken& token : added_) {
      if (token.special && token.content == content) return token.id;
    }
    return std::nullopt;
  };
  for (const std::string_view content : kBeginNames) begin_ = begin_ ? begin_ : special(content);
  for (const std::string_view content : kEndNames) end_ = end_ ? end_ : special(content);
}

BytePairTokenizer::~BytePairTokenizer() = default;

std::string BytePairTokenizer::name() const {
  return fmt::format("byte-level BPE, {} tokens", size_);
}

std::vector<Tokenizer::Id> BytePairTokenizer::encode(std::string_view text) const {
  Encoding encoding(caches_);
  encoding.ids.reserve(text.size() / 3);
  encode_around(0, text, encoding);
  return std::move(encoding.ids);
}

// The longest added token of a pass at the front of `text`.
const AddedToken* BytePairTokenizer::added_at(const PrefixIndex& tokens, std::string_view text) const {
  const AddedToken* longest = nullptr;
  tokens.visit(
      text, [this](int32_t i) { return content_of(i); },
      [&](size_t, int32_t i) { longest = &added_[static_cast<size_t>(i)]; });
  return longest;
}

// Takes the added tokens of a pass out of `text`; what lies between goes to the next pass.
void BytePairTokenizer::encode_around(size_t pass, std::string_view text, Encoding& encoding) const {
  if (pass == passes_.size()) {
    encode_text(text, encoding);
    return;
  }
  const PrefixIndex& tokens = passes_[pass];
  size_t taken = 0;
  size_t space_end = 0;  // where the space that was last stripped ends
  for (size_t at = 0; at < text.size() && !tokens.empty();) {
    const AddedToken* token = added_at(tokens, text.substr(at));
    if (token == nullptr) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + token->content.size();
    at = end;
    if (token->left_strip)
      begin = begin > taken ? begin - white_space_before(text.substr(taken, begin - taken)) : taken;
    if (token->right_strip) {
      // Within space that was stripped before, the rest of it is known.
      if (end > space_end) space_end = end + white_space_after(text.substr(end));
      end = space_end;
    }
    // A token within the space that the one before has stripped counts again, as in the reference.
    if (begin > taken) encode_around(pass + 1, text.substr(taken, begin - taken), encoding);
    encoding.ids.push_back(token->id);
    taken = end;
  }
  encode_around(pass + 1, text.substr(taken), encoding);
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
          "a word of {} bytes is longer than the 4 GiB that can be encoded at once", word.size());
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

void BytePairTokenizer::append_known(Id id, bool& start, std::string& text) const {
  start = false;
  const auto added = std::lower_bound(added_by_id_.begin(), added_by_id_.end(), id,
                                      [&](size_t index, Id wanted) { return added_[index].id < wanted; });
  if (added != added_by_id_.end() && added_[*added].id == id)
    text += added_[*added].content;
  else if (id < vocabulary_.size())
    text += vocabulary_[id];
}

}  // namespace modewise::text
