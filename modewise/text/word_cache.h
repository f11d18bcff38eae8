#pragma once
// Cache of the tokens of recent words. Most of a text consists of a few thousand words, and a word always has
// the same tokens, so results do not depend on the cache.

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "modewise/io/tokenizers/token_table.h"

namespace modewise::text {

class WordCache {
 public:
  WordCache() : slots_(kSlots) {}

  static bool holds(std::string_view word) { return !word.empty() && word.size() <= kLongestWord; }

  /// The ids of `word`, for which holds() must be true; empty if it is not cached.
  std::span<const int32_t> find(std::string_view word, uint64_t hash) const {
    const Slot& slot = slots_[hash % kSlots];
    if (slot.length != word.size() || std::memcmp(slot.word.data(), word.data(), word.size()) != 0) return {};
    return {slot.ids.data(), slot.count};
  }
  void keep(std::string_view word, uint64_t hash, std::span<const int32_t> ids) {
    if (ids.empty() || ids.size() > kMaxIds) return;
    Slot& slot = slots_[hash % kSlots];
    slot.length = static_cast<uint8_t>(word.size());
    slot.count = static_cast<uint8_t>(ids.size());
    std::memcpy(slot.word.data(), word.data(), word.size());
    std::memcpy(slot.ids.data(), ids.data(), ids.size_bytes());
  }

 private:
  static constexpr size_t kSlots = 1 << 15, kLongestWord = 22, kMaxIds = 10;
  struct alignas(64) Slot {  // a cache line
    uint8_t length = 0, count = 0;
    std::array<char, kLongestWord> word;
    std::array<int32_t, kMaxIds> ids;
  };
  std::vector<Slot> slots_;
};

/// Pool of caches, one per concurrent encode.
class WordCaches {
 public:
  /// A cache borrowed for the lifetime of this object.
  class BorrowedCache {
   public:
    explicit BorrowedCache(WordCaches& owner) : owner_(owner), cache_(owner.take()) {}
    ~BorrowedCache() { owner_.give_back(std::move(cache_)); }
    BorrowedCache(const BorrowedCache&) = delete;
    BorrowedCache& operator=(const BorrowedCache&) = delete;
    WordCache* operator->() { return cache_.get(); }

   private:
    WordCaches& owner_;
    std::unique_ptr<WordCache> cache_;
  };

 private:
  std::unique_ptr<WordCache> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<WordCache> cache = std::move(idle_.back());
        idle_.pop_back();
        return cache;
      }
      idle_.reserve(++made_);  // so that give_back cannot fail
    }
    return std::make_unique<WordCache>();
  }
  void give_back(std::unique_ptr<WordCache> cache) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(cache));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<WordCache>> idle_;
  size_t made_ = 0;
};

}  // namespace modewise::text
