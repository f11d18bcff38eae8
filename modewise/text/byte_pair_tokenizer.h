#pragma once
// Byte-level BPE of a tokenizer.json, as in Hugging Face tokenizers: added tokens are matched first, the rest
// is split into words by regular expressions, and the bytes of a word are merged in the order of the file.

#include <array>

#include "modewise/io/tokenizers/tokenizer_json.h"
#include "modewise/text/added_tokens.h"
#include "modewise/text/merge_table.h"
#include "modewise/text/tokenizer.h"
#include "modewise/text/word_cache.h"
#include "modewise/text/word_splitter.h"

namespace modewise::text {

class BytePairTokenizer final : public Tokenizer {
 public:
  /// `source` names the file in messages; `hash` and `file`: as in Tokenizer.
  BytePairTokenizer(io::TokenizerJson json, const std::string& source, std::string hash,
                    std::filesystem::path file);
  ~BytePairTokenizer() override;

  int64_t size() const override { return size_; }
  /// Invalid UTF-8 bytes are words of their own, so that decoding restores any bytes.
  std::vector<Id> encode(std::string_view text) const override;
  bool has_token(Id id) const override { return vocabulary_.has(id) || added_.of_id(id) != nullptr; }
  std::optional<Id> begin_id() const override { return begin_; }
  std::optional<Id> end_id() const override { return end_; }
  std::optional<TextFrame> frame() const override;
  std::string name() const override;

 private:
  struct Encoding;  // state of one encode

  void append_valid(Id id, bool& start, std::string& text) const override;
  void encode_around(AddedTokens::Pass pass, std::string_view text, Encoding& encoding) const;
  void encode_text(std::string_view text, Encoding& encoding) const;
  void encode_word(std::string_view word, Encoding& encoding) const;
  void merge_word(std::string_view word, Encoding& encoding) const;

  int32_t size_;
  io::TokenTable vocabulary_;
  AddedTokens added_;
  std::array<Id, 256> byte_ids_;
  MergeTable merges_;
  WordSplitter splitter_;
  bool ignore_merges_;
  std::optional<Id> begin_, end_;
  io::TextTemplate template_;
  mutable WordCaches caches_;
};

}  // namespace modewise::text
