#pragma once
// Tokenizer interface: encoding and decoding of text. Any bytes are accepted, valid UTF-8 or not; where
// decoding is lossy (docs/tokenizers.md), the file format requires it.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/io/tokenizers/text_template.h"

namespace modewise::text {

/// Special tokens around texts (text_frame.h).
struct TextFrame {
  using Item = io::TemplateItem;
  std::vector<Item> single, pair;
  std::optional<int32_t> padding = {};
  std::optional<int32_t> mask = {};   // replaces a masked token
  std::vector<int32_t> special = {};  // tokens that are not text, including padding and mask
  int64_t size = 0;                   // rows of the embedding: all ids are below
};

/// Thread-safe.
class Tokenizer {
 public:
  using Id = int32_t;
  /// A token and its byte range in the text.
  struct Piece {
    Id id = 0;
    uint32_t begin = 0, end = 0;
  };
  virtual ~Tokenizer();

  /// Largest id plus one: the rows of an embedding.
  virtual int64_t size() const = 0;
  /// Token ids, without begin and end tokens.
  virtual std::vector<Id> encode(std::string_view text) const = 0;
  /// The same with the byte range of each token: begin = end if the tokenizer's normalization loses it.
  /// Throws a data error for texts of 4 GiB and more.
  virtual std::vector<Piece> encode_pieces(std::string_view text) const;
  /// Decodes to bytes. Special tokens such as begin and end are skipped unless the tokenizer's file gives
  /// them a text (tokenizer.json). Throws data errors for an id outside 0 … size() − 1.
  std::string decode(std::span<const Id> ids) const;
  /// Appends the bytes of `id` to a text. `start`: no visible text came before, so a space that encode
  /// prepended is dropped; set to false once there is text.
  void append(Id id, bool& start, std::string& text) const;

  /// Whether an id below size() is a token: vocabularies may have gaps.
  virtual bool has_token(Id id) const { return id >= 0 && id < size(); }
  /// The text of a token in its file, such as "<s>", also where decode skips it.
  virtual std::string token_text(Id id) const;

  /// Begin (BOS) and end (EOS) tokens, if the tokenizer has them.
  virtual std::optional<Id> begin_id() const = 0;
  virtual std::optional<Id> end_id() const = 0;
  /// The tokens that the tokenizer's files put before a text (load_tokenizer.h), or the begin token if
  /// override_begin does.
  std::vector<Id> tokens_before_text() const {
    if (!several_before_text_.empty()) return several_before_text_;
    return puts_begin_ && begin_id() ? std::vector{*begin_id()} : std::vector<Id>();
  }
  /// The same for those who support one: a data error for more.
  std::optional<Id> begin_before_text() const;
  void set_puts_begin(bool puts) {
    puts_begin_ = puts;
    several_before_text_.clear();
  }
  /// Several tokens instead of the begin token alone, until set_puts_begin.
  void set_several_before_text(std::vector<Id> ids) { several_before_text_ = std::move(ids); }
  /// The template of its file, if any; padding and mask tokens if it has them.
  virtual std::optional<TextFrame> frame() const { return std::nullopt; }
  /// Which end of a text too long for an encoder is left out (truncation_side of transformers), and how long
  /// texts are without a length of the user's (model_max_length; 0: no limit).
  struct Truncation {
    bool at_begin = false;
    int64_t max_length = 0;
  };
  const Truncation& truncation() const { return truncation_; }
  void set_truncation(const Truncation& truncation) { truncation_ = truncation; }
  /// Description, such as "byte-level BPE, 50257 tokens".
  virtual std::string name() const = 0;
  /// Hash of the complete definition: equal hashes give equal tokens. 32 hexadecimal digits.
  const std::string& hash() const { return hash_; }
  /// The source file; empty for "bytes".
  const std::filesystem::path& file() const { return file_; }
  /// The file name that load_tokenizer expects in a folder.
  std::string file_name() const;

 protected:
  Tokenizer(std::string hash, std::filesystem::path file) : hash_(std::move(hash)), file_(std::move(file)) {}
  /// `append` for an id inside the vocabulary.
  virtual void append_valid(Id id, bool& start, std::string& text) const = 0;

 private:
  std::string hash_;
  std::filesystem::path file_;
  bool puts_begin_ = true;
  std::vector<Id> several_before_text_;
  Truncation truncation_;
};

}  // namespace modewise::text
