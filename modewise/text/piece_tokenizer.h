#pragma once
// Tokenizers of scored pieces: sentencepiece BPE and unigram (Kudo 2018), and llama2.c's tokenizer, BPE with
// simpler rules.

#include <array>
#include <memory>

#include "modewise/io/tokenizers/llama2c_tokenizer.h"
#include "modewise/io/tokenizers/sentencepiece_model.h"
#include "modewise/text/added_tokens.h"
#include "modewise/text/piece_normalizer.h"
#include "modewise/text/prefix_index.h"
#include "modewise/text/tokenizer.h"
#include "modewise/text/word_cache.h"

namespace modewise::text {

class UnigramPaths;

/// Added tokens of the files beside a sentencepiece model.
struct PieceAdditions {
  std::vector<AddedTokens::Token> tokens;
  bool prefix_after = false;  // the dummy prefix is put after each of them, too, unless a space follows
};

class PieceTokenizer final : public Tokenizer {
 public:
  using Model = io::SentencePieceModel;

  /// `hash` and `file`: as in Tokenizer. The ids of `additions` must fit those of the model.
  PieceTokenizer(Model model, std::string hash, std::filesystem::path file, PieceAdditions additions = {});
  /// As in llama2.c: a space is prepended, no normalization, characters without a piece become bytes before
  /// merging.
  PieceTokenizer(io::Llama2cTokenizer tokenizer, std::string hash, std::filesystem::path file);
  ~PieceTokenizer() override;

  int64_t size() const override { return size_; }
  std::vector<Id> encode(std::string_view text) const override;
  std::optional<Id> begin_id() const override { return mark(model_.begin); }
  std::optional<Id> end_id() const override { return mark(model_.end); }
  bool has_token(Id id) const override { return model_.pieces.has(id) || added_.of_id(id) != nullptr; }
  std::string token_text(Id id) const override;
  std::string name() const override;
  /// The text of a piece as in its file.
  std::string_view piece(Id id) const { return model_.pieces[id]; }

 private:
  using Type = Model::Type;
  enum class Origin { sentencepiece, llama2c };

  PieceTokenizer(Model model, Origin origin, std::string hash, std::filesystem::path file,
                 PieceAdditions additions);
  static std::optional<Id> mark(int32_t id) { return id < 0 ? std::nullopt : std::optional(id); }
  void append_valid(Id id, bool& start, std::string& text) const override;
  Type type(Id id) const { return model_.types[static_cast<size_t>(id)]; }
  float score(Id id) const { return model_.scores[static_cast<size_t>(id)]; }

  std::optional<Id> find(std::string_view text) const;
  bool words_part() const;
  size_t user_defined_length(std::string_view text) const;
  void encode_part(std::string_view text, bool first, std::vector<Id>& ids) const;
  void emit(std::string_view text, std::optional<Id> id, std::vector<Id>& ids) const;
  void encode_pairs(std::string_view text, std::vector<Id>& ids) const;
  void encode_words(std::string_view text, std::vector<Id>& ids) const;

  Model model_;
  Origin origin_;
  AddedTokens added_;
  bool prefix_after_;
  int32_t size_;
  std::string_view space_;      // the space character in pieces
  PieceNormalizer normalizer_;  // refers to model_
  std::array<Id, 256> byte_ids_;
  PrefixIndex user_defined_;
  bool words_part_ = false;              // no piece has a space after another character
  std::unique_ptr<UnigramPaths> paths_;  // unigram only
  mutable WordCaches caches_;
};

}  // namespace modewise::text
