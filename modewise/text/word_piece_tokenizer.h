#pragma once
// WordPiece tokenizer of BERT: normalizes a text, splits it at spaces and around punctuation, and splits
// every word greedily into the longest pieces of the vocabulary.

#include "modewise/io/tokenizers/tokenizer_json.h"
#include "modewise/text/added_tokens.h"
#include "modewise/text/bert_normalizer.h"
#include "modewise/text/tokenizer.h"

namespace modewise::text {

class WordPieceTokenizer final : public Tokenizer {
 public:
  /// Requires `json.word_piece`; `hash` and `file`: as in Tokenizer.
  WordPieceTokenizer(io::TokenizerJson json, std::string hash, std::filesystem::path file);

  int64_t size() const override { return size_; }
  std::vector<Id> encode(std::string_view text) const override;
  std::vector<Piece> encode_pieces(std::string_view text) const override;
  bool has_token(Id id) const override { return vocabulary_.has(id) || added_.of_id(id) != nullptr; }
  std::optional<Id> begin_id() const override { return begin_; }
  std::optional<Id> end_id() const override { return end_; }
  std::optional<TextFrame> frame() const override;
  std::string name() const override;

 private:
  struct Part;  // a normalized part of a text

  void append_valid(Id id, bool& start, std::string& text) const override;
  void add_words(const Part& part, size_t begin, size_t end, std::vector<Piece>& out) const;
  void add_word(const Part& part, size_t begin, size_t end, std::vector<Piece>& out) const;

  int32_t size_;
  io::TokenTable vocabulary_;
  io::WordPieceRules rules_;
  io::BertNormalizing normalizing_;
  AddedTokens added_;
  std::optional<Id> begin_, end_;
  io::TextTemplate template_;
};

}  // namespace modewise::text
