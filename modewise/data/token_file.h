#pragma once
// Tokens of documents: a safetensors file that is mapped, not loaded, or the same in memory.
//
// `tokens` [T] U16 (vocabularies of up to 65,536) or U32; `documents` [n + 1] I64, where each document
// begins, and the end; `bytes` and `words` [n] I64, the size of each document's text, so that losses can be
// told per byte and per word. The metadata name the tokenizer and hold a hash of what defines it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/error.h"

namespace modewise::data {

/// Which tokenizer made tokens.
struct SpecialToken {
  std::string name, hash;  // as the tokenizer tells them
  std::string path;        // where it was; may be gone
  int64_t vocabulary = 0;
};

/// Tokens begin … end − 1 of a file, and the size of the text they are of.
struct TokenSpan {
  int64_t begin = 0, end = 0;
  int64_t bytes = 0, words = 0;

  int64_t size() const { return end - begin; }
};

class TokenFile {
 public:
  /// Maps a file and checks it: data errors name the file and the tensor, also where a token is outside of
  /// the vocabulary.
  explicit TokenFile(const std::filesystem::path& path);

  int64_t tokens() const { return count_; }
  const std::vector<TokenSpan>& documents() const { return documents_; }
  const SpecialToken& tokenizer() const { return tokenizer_; }
  /// The file, or what the tokens were made from.
  const std::string& source() const { return source_; }
  /// Of tokens and documents.
  const std::string& hash() const { return hash_; }
  /// Copies tokens begin … begin + count − 1. Safe to call from any thread.
  void read(int64_t begin, int64_t count, int64_t* out) const;

  /// Writes it as a file, atomically.
  void write(const std::filesystem::path& path) const;

 private:
  friend class TokenFileBuilder;
  TokenFile() = default;
  void check();

  std::shared_ptr<const void> owner_;  // of the bytes
  std::span<const std::byte> bytes_;
  bool wide_ = false;
  int64_t count_ = 0;
  std::vector<TokenSpan> documents_;
  SpecialToken tokenizer_;
  std::string source_, hash_;
};

/// Collects documents in memory.
class TokenFileBuilder {
 public:
  TokenFileBuilder(SpecialToken tokenizer, std::string source);

  /// Opens the next document, whose text has this size; its tokens follow by add().
  void begin_document(int64_t bytes, int64_t words);
  void add(std::span<const int32_t> ids);
  TokenFile finish();

 private:
  SpecialToken tokenizer_;
  std::string source_;
  std::vector<TokenSpan> documents_;
  std::vector<uint16_t> narrow_;
  std::vector<uint32_t> wide_;
};

/// Documents, or parts of them, of one file.
struct TokenPart {
  std::shared_ptr<const TokenFile> file;
  std::vector<TokenSpan> spans;

  int64_t tokens() const;
  int64_t bytes() const;
  int64_t words() const;
};

/// Whether the file is a safetensors file with the tensors of a token file (no more is checked).
bool is_token_file(const std::filesystem::path& path);

/// As lm-eval counts them: runs of white space (Unicode's) plus one.
int64_t count_words(std::string_view text);

}  // namespace modewise::data
