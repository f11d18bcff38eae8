#pragma once
// Vocabulary: texts by id, and ids by text, in a few flat arrays: its memory is bounded by little more than
// the file's size, also for hostile files.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::io {

/// Hash of bytes for tables in memory; its values are never stored in files.
inline uint64_t text_hash(std::string_view text) {
  constexpr uint64_t kFirst = 0x9E3779B97F4A7C15u, kSecond = 0xC2B2AE3D27D4EB4Fu;
  const auto load = [](const char* from, size_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, from, bytes);
    return value;
  };
  const auto mix = [](uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  const char* data = text.data();
  size_t left = text.size();
  uint64_t hash = kFirst ^ left;
  for (; left > 8; left -= 8, data += 8) hash = mix(hash ^ load(data, 8), kSecond);
  // The last 1 to 8 bytes, by loads of fixed sizes that may overlap.
  uint64_t last = 0;
  if (left == 8) {
    last = load(data, 8);
  } else if (left >= 4) {
    last = load(data, 4) | load(data + left - 4, 4) << 32;
  } else if (left > 0) {
    last = static_cast<unsigned char>(data[0]) |
           static_cast<uint64_t>(static_cast<unsigned char>(data[left / 2])) << 8 |
           static_cast<uint64_t>(static_cast<unsigned char>(data[left - 1])) << 16;
  }
  return mix(hash ^ last, kFirst);
}

class TokenTable {
 public:
  /// Limit for tokens and ids, enforced by the readers; far above vocabularies in use.
  static constexpr int32_t kMaxTokens = 1 << 21;
  /// Bytes of a piece that a sentencepiece or llama2.c file may have.
  static constexpr int32_t kLongestPiece = 4096;

  /// Reserves `text_bytes` bytes for all texts.
  explicit TokenTable(size_t text_bytes = 0) { texts_.reserve(text_bytes); }

  /// `id` must be below kMaxTokens and free, `text` non-empty and new.
  void add(int32_t id, std::string_view text);

  /// Largest id plus one.
  int32_t size() const { return static_cast<int32_t>(entries_.size()); }
  /// Number of tokens; less than size() if there are gaps between ids.
  int32_t count() const { return count_; }
  bool has(int32_t id) const {
    return id >= 0 && id < size() && entries_[static_cast<size_t>(id)].length > 0;
  }
  /// The text of an id below size(); empty for an unused id.
  std::string_view operator[](int32_t id) const {
    const Entry entry = entries_[static_cast<size_t>(id)];
    return std::string_view(texts_).substr(entry.begin, entry.length);
  }
  std::optional<int32_t> find(std::string_view text) const;
  size_t longest() const { return longest_; }

 private:
  struct Entry {
    uint32_t begin = 0, length = 0;
  };
  void grow_index();
  size_t slot_of(std::string_view text) const;

  std::string texts_;
  std::vector<Entry> entries_;
  std::vector<int32_t> index_;  // open addressing: ids, -1 if free; a power of two, at most half full
  int32_t count_ = 0;
  size_t longest_ = 0;
};

}  // namespace modewise::io
