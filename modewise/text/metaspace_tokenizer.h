#pragma once
// BPE over characters of a tokenizer.json converted from sentencepiece (Llama), as in Hugging Face
// tokenizers: added tokens are matched first, spaces become U+2581, characters without a token become bytes,
// and neighbours are merged in the order of the file.

#include <array>

#include "modewise/io/tokenizers/tokenizer_json.h"
#include "modewise/text/added_tokens.h"
#include "modewise/text/merge_table.h"
#include "modewise/text/tokenizer.h"
#include "modewise/text/word_cache.h"

namespace modewise::text {

class MetaspaceTokenizer final : public Tokenizer {
 public:
  /// Requires `json.metaspace`; `hash` and `file`: as in Tokenizer.
  MetaspaceTokenizer(io::TokenizerJson json, std::string hash, std::filesystem::path file);

  int64_t size() const override { return size_; }
  /// Bytes of invalid UTF-8 become byte tokens.
  std::vector<Id> encode(std::string_view text) const override;
  bool has_token(Id id) const override { return vocabulary_.has(id) || added_.of_id(id) != nullptr; }
  std::optional<Id> begin_id() const override { return begin_; }
  std::optional<Id> end_id() const override { return end_; }
  std::optional<TextFrame> frame() const override;
  std::string name() const override;

 private:
  struct Encoding;  // state of one encode

  void append_valid(Id id, bool& start, std::string& text) const override;
  std::string normalized(std::string_view text) const;
  void encode_part(std::string_view text, bool first, Encoding& encoding) const;
  void encode_words(std::string_view text, Encoding& encoding) const;
  void merge_word(std::string_view word, Encoding& encoding) const;
  bool words_part() const;

  int32_t size_;
  io::TokenTable vocabulary_;
  io::MetaspaceRules rules_;
  AddedTokens added_;
  std::array<Id, 256> byte_ids_;
  std::vector<int16_t> bytes_;  // by id: the byte of a byte token, or -1
  MergeTable merges_;
  bool ignore_merges_;
  bool words_part_;  // words are encoded one by one: no merge joins a word and the space of the next
  std::optional<Id> begin_, end_;
  io::TextTemplate template_;
  mutable WordCaches caches_;
};

}  // namespace modewise::text
