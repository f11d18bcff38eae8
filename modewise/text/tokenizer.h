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

namespace modewise::text {

/// Safe to use from several threads at once.
class Tokenizer {
 public:
  using Id = int32_t;
  virtual ~Tokenizer();

  /// The largest id and one: rows of an embedding.
  virtual int64_t size() const = 0;
  /// Without begin and end marks.
  virtual std::vector<Id> encode(std::string_view text) const = 0;
  /// Bytes. Marks such as begin and end add none, unless the tokenizer's file gives them a text
  /// (tokenizer.json). Throws data errors for an id outside 0 … size() − 1.
  std::string decode(std::span<const Id> ids) const;
  /// Appends the bytes that `id` adds to a text. `start`: nothing that is seen came before, so that a space
  /// which encode put in front is dropped; set to false where that ends.
  void append(Id id, bool& start, std::string& text) const;

  /// The token that opens a text, and the one that closes it, where the tokenizer names them.
  virtual std::optional<Id> begin_id() const = 0;
  virtual std::optional<Id> end_id() const = 0;
  /// What it is, such as "byte-level BPE, 50257 tokens".
  virtual std::string name() const = 0;
  /// Of everything that defines it: equal hashes, equal tokens. 32 hexadecimal digits.
  const std::string& hash() const { return hash_; }
  /// The file it came from; empty for "bytes".
  const std::filesystem::path& file() const { return file_; }

 protected:
  Tokenizer(std::string hash, std::filesystem::path file) : hash_(std::move(hash)), file_(std::move(file)) {}
  /// `append` for an id that is within the vocabulary.
  virtual void append_known(Id id, bool& start, std::string& text) const = 0;

 private:
  std::string hash_;
  std::filesystem::path file_;
};

}  // namespace modewise::text
