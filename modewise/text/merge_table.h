#pragma once
// BPE merges: hash table from token pairs to result and rank.

#include <cstdint>
#include <optional>
#include <vector>

#include "modewise/io/tokenizers/tokenizer_json.h"
#include "modewise/text/pair_merging.h"

namespace modewise::text {

class MergeTable {
 public:
  explicit MergeTable(const std::vector<io::TokenizerJson::Merge>& merges)
      : slots_(merges.size() + merges.size() / 2 + 1) {
    for (size_t rank = 0; rank < merges.size(); ++rank) {
      Slot& slot = slots_[place(key(merges[rank].left, merges[rank].right))];
      // The last of equal pairs wins, as in the reference.
      slot = {key(merges[rank].left, merges[rank].right), static_cast<int32_t>(rank), merges[rank].result};
    }
  }

  std::optional<Merge<int32_t>> find(int32_t left, int32_t right) const {
    const Slot& slot = slots_[place(key(left, right))];
    if (slot.rank < 0) return std::nullopt;
    return Merge<int32_t>{slot.rank, slot.result};
  }

 private:
  struct Slot {
    uint64_t key = 0;
    int32_t rank = -1, result = -1;  // rank -1: free
  };
  static uint64_t key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t place(uint64_t wanted) const {
    uint64_t hash = wanted * 0x9E3779B97F4A7C15u;
    hash = (hash ^ hash >> 32) * 0xC2B2AE3D27D4EB4Fu;
    auto slot = static_cast<size_t>(static_cast<unsigned __int128>(hash) * slots_.size() >> 64);
    while (slots_[slot].rank >= 0 && slots_[slot].key != wanted)
      slot = slot + 1 == slots_.size() ? 0 : slot + 1;
    return slot;
  }

  std::vector<Slot> slots_;  // open addressing, at most two thirds full
};

}  // namespace modewise::text
