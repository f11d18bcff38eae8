#include "modewise/io/tokenizers/tokenizer_json.h"

#include <fmt/format.h>
#include "modewise/io/file_kind.h"

#include <algorithm>
#include <map>

#include "modewise/core/error.h"
#include "modewise/io/json_scanner.h"
#include "modewise/io/tokenizers/added_token.h"
#include "modewise/io/tokenizers/byte_alphabet.h"
#include "modewise/io/tokenizers/llama2c_tokenizer.h"
#include "modewise/io/tokenizers/tokenizer_json_parts.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

constexpr size_t kMaxMerges = 1 << 21;
constexpr int64_t kLongestWord = 1000;  // bounds the work per word

std::string_view checked_text(std::span<const std::byte> bytes, const std::string& source) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t invalid = find_invalid_utf8(text);
  require(invalid == std::string_view::npos, ErrorKind::data,
          "{}: the tokenizer.json is not UTF-8 at byte {}", source, invalid);
  return text;
}

class TokenizerJsonParser {
 public:
  TokenizerJsonParser(std::span<const std::byte> bytes, const std::string& source)
      : json_(checked_text(bytes, source), source, "tokenizer.json"), bytes_(bytes.size()) {}

  TokenizerJson parse() {
    const Places file = places("at the start");
    json_.expect_end();
    if (!file.contains("model")) json_.wrong("the file has no \"model\": it is not a tokenizer.json");
    tokenizer_.vocabulary = TokenTable(bytes_);
    if (go_to(file, "added_tokens")) parse_added();
    if (go_to(file, "truncation")) parse_truncation();
    go_to(file, "model");
    parse_model();
    check_added();
    if (tokenizer_.word_piece) {
      if (go_to(file, "post_processor")) parse_post_processor(json_, tokenizer_);
      if (go_to(file, "normalizer")) parse_bert_normalizer(json_, *tokenizer_.word_piece);
      if (!go_to(file, "pre_tokenizer")) json_.wrong("WordPiece needs the pre_tokenizer 'BertPreTokenizer'");
      parse_bert_pre_tokenizer(json_);
      if (tokenizer_.around.single.empty()) add_bert_special_tokens();
      return std::move(tokenizer_);
    }
    if (tokenizer_.metaspace) {
      MetaspaceParts parts;
      if (go_to(file, "normalizer")) parse_metaspace_normalizer(json_, parts);
      if (go_to(file, "pre_tokenizer")) parse_metaspace_pre_tokenizer(json_, parts);
      if (!parts.replaces)
        json_.wrong(
            "neither the normalizer nor the pre_tokenizer replaces spaces by '\u2581', as BPE with "
            "byte_fallback needs");
      if (go_to(file, "decoder")) parse_metaspace_decoder(json_, parts);
      if (go_to(file, "post_processor")) parse_post_processor(json_, tokenizer_);
      tokenizer_.metaspace = parts.rules;
      return std::move(tokenizer_);
    }
    if (go_to(file, "normalizer")) parse_normalizer(json_);
    if (go_to(file, "pre_tokenizer")) parse_pre_tokenizer(json_, tokenizer_.steps);
    if (go_to(file, "decoder")) parse_decoder(json_);
    if (go_to(file, "post_processor")) parse_post_processor(json_, tokenizer_);
    if (tokenizer_.steps.empty() || tokenizer_.steps.back().kind != TokenizerJson::Step::Kind::byte_level)
      json_.wrong("the pre_tokenizer does not end with ByteLevel; only byte-level BPE is supported");
    return std::move(tokenizer_);
  }

 private:
  struct Place {
    size_t at = 0, elements = 0;  // elements: number of elements of an array
  };
  using Places = std::map<std::string, Place>;

  // Sets BERT's template for a WordPiece file without one that has BERT's special tokens, as `tokenizers`
  // trains them.
  void add_bert_special_tokens() {
    const auto mark = [&](std::string_view content) {
      return std::find_if(tokenizer_.added.begin(), tokenizer_.added.end(),
                          [&](const auto& token) { return token.special && token.content == content; });
    };
    const auto opening = mark("[CLS]"), closing = mark("[SEP]");
    if (opening == tokenizer_.added.end() || closing == tokenizer_.added.end()) return;
    tokenizer_.begin = opening->id;
    tokenizer_.end = closing->id;
    tokenizer_.around = bert_template(opening->id, closing->id);
  }

  // Skips an object and returns the offsets of its members, so that they can be read in another order.
  Places places(std::string_view what) {
    Places found;
    json_.object(what, [&](const std::string& key) {
      const size_t at = json_.position();
      if (found.size() == 256) json_.wrong("an object has more than 256 members");
      if (!found.try_emplace(key, Place{at, 0}).second)
        json_.wrong(fmt::format("duplicate key {}", quote_for_message(key)));
      found[key].elements = json_.skip();
    });
    return found;
  }

  // Moves to the value of `key`; false if it is absent or null.
  bool go_to(const Places& object, const std::string& key) {
    const auto place = object.find(key);
    if (place == object.end()) return false;
    json_.go_to(place->second.at);
    return !json_.take_null();
  }

  void parse_added() {
    json_.array("at the start of added_tokens", [&] {
      const size_t at = json_.position();
      AddedToken token = read_added_token(json_);
      if (tokenizer_.added.size() == kMaxAddedTokens)
        json_.wrong_at(at, fmt::format("more than {} added tokens", kMaxAddedTokens));
      tokenizer_.size = std::max(tokenizer_.size, token.id + 1);
      added_at_.push_back(at);
      tokenizer_.added.push_back(std::move(token));
    });
    check_added_once();
  }

  /// Members other than the direction are of calls that do not say otherwise.
  void parse_truncation() {
    if (json_.take_null()) return;
    json_.object("at the start of truncation", [&](const std::string& key) {
      if (key == "direction")
        tokenizer_.truncates_begin = json_.decode(json_.string()) == "Left";
      else
        json_.skip();
    });
  }

  void check_added_once() {
    std::vector<size_t> order(tokenizer_.added.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto& added = tokenizer_.added;
    const auto refuse_equal = [&](auto&& key, const char* what) {
      std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return key(added[a]) != key(added[b]) ? key(added[a]) < key(added[b]) : a < b;
      });
      for (size_t i = 1; i < order.size(); ++i) {
        if (key(added[order[i - 1]]) == key(added[order[i]])) {
          json_.wrong_at(added_at_[order[i]],
                         fmt::format("two added tokens have the same {} ({}, id {})", what,
                                     quote_for_message(added[order[i]].content), added[order[i]].id));
        }
      }
    };
    refuse_equal([](const TokenizerJson::AddedToken& token) -> const std::string& { return token.content; },
                 "content");
    refuse_equal([](const TokenizerJson::AddedToken& token) { return token.id; }, "id");
    added_by_id_ = std::move(order);  // sorted by id now
  }

  const TokenizerJson::AddedToken* added_token(int32_t id) const {
    const auto found =
        std::lower_bound(added_by_id_.begin(), added_by_id_.end(), id,
                         [&](size_t index, int32_t wanted) { return tokenizer_.added[index].id < wanted; });
    return found != added_by_id_.end() && tokenizer_.added[*found].id == id ? &tokenizer_.added[*found]
                                                                            : nullptr;
  }

  void parse_model() {
    const Places model = places("at the start of the model");
    if (go_to(model, "type")) {
      const size_t at = json_.position();
      const std::string type = json_.decode(json_.string());
      if (type != "BPE" && type != "WordPiece")
        json_.wrong_at(at, fmt::format("unsupported model {}; BPE and WordPiece are supported",
                                       quote_for_message(type)));
      if (type == "WordPiece") {
        parse_word_piece(model);
        return;
      }
    }
    if (go_to(model, "byte_fallback") && json_.boolean()) tokenizer_.metaspace.emplace();
    if (go_to(model, "dropout") && json_.number() != 0)
      json_.wrong("the model has dropout, which is not supported");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (go_to(model, key) && !json_.string().raw.empty())
        json_.wrong(fmt::format("the model has {}, which is not supported", key));
    }
    if (go_to(model, "ignore_merges")) tokenizer_.ignore_merges = json_.boolean();
    if (!go_to(model, "vocab")) json_.wrong("the model has no \"vocab\"");
    parse_vocabulary();
    if (!go_to(model, "merges")) json_.wrong("the model has no \"merges\"");
    parse_merges(model.at("merges").elements);
  }

  void parse_word_piece(const Places& model) {
    WordPieceRules& rules = tokenizer_.word_piece.emplace();
    if (go_to(model, "continuing_subword_prefix")) rules.continuing = json_.decode(json_.string());
    if (go_to(model, "max_input_chars_per_word")) {
      const size_t at = json_.position();
      rules.longest_word = json_.integer("max_input_chars_per_word");
      if (rules.longest_word < 1 || rules.longest_word > kLongestWord)
        json_.wrong_at(at, fmt::format("max_input_chars_per_word is {}; expected 1 to {}", rules.longest_word,
                                       kLongestWord));
    }
    if (!go_to(model, "vocab")) json_.wrong("the model has no \"vocab\"");
    parse_vocabulary();
    std::string unknown = "[UNK]";
    const bool named = go_to(model, "unk_token");
    const size_t at = json_.position();
    if (named) unknown = json_.decode(json_.string());
    const std::optional<int32_t> id = tokenizer_.vocabulary.find(unknown);
    if (!id)
      json_.wrong_at(
          at, fmt::format("the vocabulary has no token {} for unknown words", quote_for_message(unknown)));
    rules.unknown = *id;
  }

  /// The text of a token of the file; nullopt if byte-level BPE cannot represent it.
  std::optional<std::string> bytes_of(const std::string& text) const {
    return tokenizer_.word_piece || tokenizer_.metaspace ? std::optional(text) : bytes_of_alphabet(text);
  }

  void parse_vocabulary() {
    json_.expect('{', "at the start of the vocabulary");
    if (json_.take('}')) json_.wrong("the vocabulary is empty");
    do {
      const size_t at = json_.position();
      const std::string text = json_.decode(json_.string());
      json_.expect(':', "after a token");
      const int32_t id = read_token_id(json_, "the id of a token");
      tokenizer_.size = std::max(tokenizer_.size, id + 1);
      const auto wrong = [&](const std::string& what) {
        json_.wrong_at(at, fmt::format("token {}, {}, {}", id, quote_for_message(text), what));
      };
      if (text.empty()) wrong("is empty");
      if (tokenizer_.vocabulary.has(id))
        wrong(fmt::format("has the same id as {}", quote_for_message(tokenizer_.vocabulary[id])));
      const TokenizerJson::AddedToken* added = added_token(id);
      const std::optional<std::string> bytes = bytes_of(text);
      if (added != nullptr && added->content != text)
        wrong(fmt::format("has the same id as the added token {}", quote_for_message(added->content)));
      if (!bytes && added == nullptr) wrong("has a character outside the byte-level alphabet");
      if (!bytes) continue;
      if (const auto earlier = tokenizer_.vocabulary.find(*bytes))
        wrong(fmt::format("is a duplicate of token {}", *earlier));
      tokenizer_.vocabulary.add(id, *bytes);
    } while (json_.take(','));
    json_.expect('}', "or ',' after a token");
    if (tokenizer_.word_piece) return;
    if (tokenizer_.metaspace) {
      for (int byte = 0; byte < 256; ++byte)
        if (const std::string name = byte_piece(byte); !tokenizer_.vocabulary.find(name))
          json_.wrong(fmt::format("byte_fallback is on, but the vocabulary has no token {}", name));
      return;
    }
    for (int byte = 0; byte < 256; ++byte) {
      const char text = static_cast<char>(byte);
      if (!tokenizer_.vocabulary.find({&text, 1}))
        json_.wrong(
            fmt::format("the vocabulary has no token for the byte {} ('{}'), so it cannot encode every text",
                        byte, alphabet_character(static_cast<unsigned char>(byte))));
    }
  }

  void parse_merges(size_t count) {
    if (count > kMaxMerges) json_.wrong(fmt::format("{} merges; the limit is {}", count, kMaxMerges));
    tokenizer_.merges.reserve(count);
    json_.array("at the start of the merges", [&] {
      const size_t at = json_.position();
      std::string left, right;
      if (json_.take('[')) {
        left = json_.decode(json_.string());
        json_.expect(',', "between the parts of a merge");
        right = json_.decode(json_.string());
        json_.expect(']', "after the two parts of a merge");
      } else {
        const std::string both = json_.decode(json_.string());
        const size_t space = both.find(' ');
        if (space == std::string::npos || both.find(' ', space + 1) != std::string::npos)
          json_.wrong_at(at, fmt::format("merge {}, {}, must be two parts separated by a space",
                                         tokenizer_.merges.size(), quote_for_message(both)));
        left = both.substr(0, space);
        right = both.substr(space + 1);
      }
      const int32_t left_id = part(left, at), right_id = part(right, at), result = part(left + right, at);
      tokenizer_.merges.push_back({left_id, right_id, result});
    });
  }

  int32_t part(const std::string& text, size_t at) {
    const std::optional<std::string> bytes = bytes_of(text);
    const std::optional<int32_t> id = bytes ? tokenizer_.vocabulary.find(*bytes) : std::nullopt;
    if (!id) {
      json_.wrong_at(at, fmt::format("merge {} needs the token {}, which is not in the vocabulary",
                                     tokenizer_.merges.size(), quote_for_message(text)));
    }
    return *id;
  }

  // Refuses an added token that has another id in the vocabulary, since it would be ambiguous.
  void check_added() {
    for (size_t i = 0; i < tokenizer_.added.size(); ++i) {
      const TokenizerJson::AddedToken& token = tokenizer_.added[i];
      const std::optional<std::string> bytes = bytes_of(token.content);
      const std::optional<int32_t> id = bytes ? tokenizer_.vocabulary.find(*bytes) : std::nullopt;
      if (id && *id != token.id) {
        json_.wrong_at(added_at_[i],
                       fmt::format("the added token {} has the id {}, but the vocabulary gives it {}",
                                   quote_for_message(token.content), token.id, *id));
      }
    }
  }

  JsonScanner json_;
  size_t bytes_;
  TokenizerJson tokenizer_;
  std::vector<size_t> added_at_, added_by_id_;
};

}  // namespace

TokenizerJson parse_tokenizer_json(std::span<const std::byte> bytes, const std::string& source) {
  if (!bytes.empty() && bytes[0] != std::byte{'{'}) refuse_other_kind(bytes, source, "a tokenizer.json");
  return TokenizerJsonParser(bytes, source).parse();
}

}  // namespace modewise::io
