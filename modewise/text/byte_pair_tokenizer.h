#pragma once
// Byte-level byte pair encoding as Hugging Face's tokenizers does it from a tokenizer.json: added tokens are
// taken out of the text, the rest is split into words by regular expressions, and the bytes of a word merge
// in the order of the file.

#include <array>

#include "modewise/io/tokenizers/tokenizer_json.h"
#include "modewise/text/merge_table.h"
#include "modewise/text/prefix_index.h"
#include "modewise/text/tokenizer.h"
#include "modewise/text/word_cache.h"
#include "modewise/text/word_splitter.h"

namespace modewise::text {

class BytePairTokenizer final : public Tokenizer {
 public:
  /// `source` names the file in messages; `hash` and `file` as Tokenizer keeps them.
  BytePairTokenizer(io::TokenizerJson json, const std::string& source, std::string hash,
                    std::filesystem::path file);
  ~BytePairTokenizer() override;

  int64_t size() const override { return size_; }
  /// Bytes that are no UTF-8 are words of their own, so that any bytes come back.
  std::vector<Id> encode(std::string_view text) const override;
  std::optional<Id> begin_id() const override { return begin_; }
  std::optional<Id> end_id() const override { return end_; }
  std::string name() const override;

 private:
  struct Encoding;  // what one encode needs

  void append_known(Id id, bool& start, std::string& text) const override;
  const io::TokenizerJson::AddedToken* added_at(const PrefixIndex& tokens, std::string_view text) const;
  std::string_view content_of(int32_t added) const { return added_[static_cast<size_t>(added)].content; }
  void encode_around(size_t pass, std::string_view text, Encoding& encoding) const;
  void encode_text(std::string_view text, Encoding& encoding) const;
  void encode_word(std::string_view word, Encoding& encoding) const;
  void merge_word(std::string_view word, Encoding& encoding) const;

  int32_t size_;
  io::TokenTable vocabulary_;
  std::vector<io::TokenizerJson::AddedToken> added_;
  std::vector<size_t> added_by_id_;
  // Indices of added_ that are looked for in one pass over the text: not normalized, then normalized.
  std::array<PrefixIndex, 2> passes_;
  std::array<Id, 256> byte_ids_;
  MergeTable merges_;
  WordSplitter splitter_;
  bool ignore_merges_;
  std::optional<Id> begin_, end_;
  mutable WordCaches caches_;
};

}  // namespace modewise::text
