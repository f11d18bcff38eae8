#pragma once
// Token files: tokenized documents as a memory-mapped safetensors file, or the same in memory.
//
// `tokens` [T] U16 (vocabularies of up to 65,536) or U32; `documents` [n + 1] I64, the start of each document
// and the end; `bytes` and `words` [n] I64, the size of each document's text, for losses per byte and per
// word. The metadata hold the tokenizer's name and hash.

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

/// The tokenizer of a token file.
struct SpecialToken {
  std::string name, hash;  // as the tokenizer reports them
  std::string path;        // its original path; may no longer exist
  int64_t vocabulary = 0;
};

/// Tokens begin … end − 1 of a file, and the size of their text.
struct TokenSpan {
  int64_t begin = 0, end = 0;
  int64_t bytes = 0, words = 0;

  int64_t size() const { return end - begin; }
};

class TokenFile {
 public:
  /// Maps and checks a file. Data errors name the file and the tensor, also for tokens out of the
  /// vocabulary.
  explicit TokenFile(const std::filesystem::path& path);

  int64_t tokens() const { return count_; }
  const std::vector<TokenSpan>& documents() const { return documents_; }
  const SpecialToken& tokenizer() const { return tokenizer_; }
  /// The file, or the source of the tokens.
  const std::string& source() const { return source_; }
  /// Hash of tokens and documents.
  const std::string& hash() const { return hash_; }
  /// Copies tokens begin … begin + count − 1. Thread-safe.
  void read(int64_t begin, int64_t count, int64_t* out) const;

  /// Writes the file atomically.
  void write(const std::filesystem::path& path) const;

 private:
  friend class TokenFileBuilder;
  TokenFile() = default;
  void check();

  std::shared_ptr<const void> owner_;  // owns bytes_
  std::span<const std::byte> bytes_;
  bool wide_ = false;
  int64_t count_ = 0;
  std::vector<TokenSpan> documents_;
  SpecialToken tokenizer_;
  std::string source_, hash_;
};

/// Builds a token file in memory.
class TokenFileBuilder {
 public:
  TokenFileBuilder(SpecialToken tokenizer, std::string source);

  /// Begins the next document, whose text has this size; add() appends its tokens.
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

/// Documents, or parts of documents, of one file.
struct TokenPart {
  std::shared_ptr<const TokenFile> file;
  std::vector<TokenSpan> spans;

  int64_t tokens() const;
  int64_t bytes() const;
  int64_t words() const;
};

/// Whether the file is a safetensors file with the tensors of a token file (nothing else is checked).
bool is_token_file(const std::filesystem::path& path);

/// Word count as in lm-eval: runs of Unicode white space plus one.
int64_t count_words(std::string_view text);

}  // namespace modewise::data
