#pragma once
// Text as numbers and back. A tokenizer takes any bytes, valid UTF-8 or not; what it cannot give back byte
// for byte (docs/tokenizers.md says where) is a rule of its file format, never a loss of its own.

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

/// What an encoder puts around texts (text_frame.h).
struct TextFrame {
  using Item = io::TemplateItem;
  std::vector<Item> single, pair;
  std::optional<int32_t> padding = {};
  std::optional<int32_t> mask = {};   // stands for a hidden token
  std::vector<int32_t> special = {};  // tokens that are no text, padding and mask among them
  int64_t size = 0;                   // rows of an embedding: all ids are below
};

/// Safe to use from several threads at once.
class Tokenizer {
 public:
  using Id = int32_t;
  /// A token and the bytes of the text that it stands for, from begin to end.
  struct Piece {
    Id id = 0;
    uint32_t begin = 0, end = 0;
    bool starts = true;  // begins a word
  };
  virtual ~Tokenizer();

  /// The largest id and one: rows of an embedding.
  virtual int64_t size() const = 0;
  /// Without begin and end marks.
  virtual std::vector<Id> encode(std::string_view text) const = 0;
  /// The same with what each token stands for: begin = end where a tokenizer changes texts so that it cannot
  /// be said. Throws a data error for texts of 4 GiB and more.
  virtual std::vector<Piece> encode_pieces(std::string_view text) const;
  /// Bytes. Marks such as begin and end add none, unless the tokenizer's file gives them a text
  /// (tokenizer.json). Throws data errors for an id outside 0 … size() − 1.
  std::string decode(std::span<const Id> ids) const;
  /// Appends the bytes that `id` adds to a text. `start`: nothing that is seen came before, so that a space
  /// which encode put in front is dropped; set to false where that ends.
  void append(Id id, bool& start, std::string& text) const;

  /// The token that opens a text, and the one that closes it, where the tokenizer names them.
  virtual std::optional<Id> begin_id() const = 0;
  virtual std::optional<Id> end_id() const = 0;
  /// What its file puts around texts, where it says so; padding and mask where it has them.
  virtual std::optional<TextFrame> frame() const { return std::nullopt; }
  /// What it is, such as "byte-level BPE, 50257 tokens".
  virtual std::string name() const = 0;
  /// Of everything that defines it: equal hashes, equal tokens. 32 hexadecimal digits.
  const std::string& hash() const { return hash_; }
  /// The file it came from; empty for "bytes".
  const std::filesystem::path& file() const { return file_; }
  /// Under which name load_tokenizer finds its file in a folder.
  std::string file_name() const;

 protected:
  Tokenizer(std::string hash, std::filesystem::path file) : hash_(std::move(hash)), file_(std::move(file)) {}
  /// `append` for an id that is within the vocabulary.
  virtual void append_future_covariates(Id id, bool& start, std::string& text) const = 0;

 private:
  std::string hash_;
  std::filesystem::path file_;
};

}  // namespace modewise::text
