#pragma once
// BERT's WordPiece: a text is normalized, cut at spaces and around punctuation, and every word is taken apart
// from its front into the longest pieces that the vocabulary has.

#include "modewise/io/tokenizers/tokenizer_json.h"
#include "modewise/text/added_tokens.h"
#include "modewise/text/bert_normalizer.h"
#include "modewise/text/tokenizer.h"

namespace modewise::text {

class WordPieceTokenizer final : public Tokenizer {
 public:
  /// `json.word_piece` is there; `hash` and `file` as Tokenizer keeps them.
  WordPieceTokenizer(io::TokenizerJson json, std::string hash, std::filesystem::path file);

  int64_t size() const override { return size_; }
  std::vector<Id> encode(std::string_view text) const override;
  std::vector<Piece> encode_pieces(std::string_view text) const override;
  std::optional<Id> begin_id() const override { return begin_; }
  std::optional<Id> end_id() const override { return end_; }
  std::optional<TextFrame> frame() const override;
  std::string name() const override;

 private:
  struct Part;  // of a text, normalized

  void append_future_covariates(Id id, bool& start, std::string& text) const override;
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
