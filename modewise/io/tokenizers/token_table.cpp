#include "modewise/io/tokenizers/token_table.h"

#include <algorithm>
#include <bit>

#include "modewise/core/error.h"

namespace modewise::io {

size_t TokenTable::slot_of(std::string_view text) const {
  const size_t mask = index_.size() - 1;
  size_t slot = text_hash(text) & mask;
  while (index_[slot] >= 0 && (*this)[index_[slot]] != text) slot = (slot + 1) & mask;
  return slot;
}

std::optional<int32_t> TokenTable::find(std::string_view text) const {
  if (index_.empty() || text.empty() || text.size() > longest_) return std::nullopt;
  const int32_t id = index_[slot_of(text)];
  return id < 0 ? std::nullopt : std::optional(id);
}

void TokenTable::grow_index() {
  const size_t slots = std::bit_ceil(static_cast<size_t>(count_ + 1) * 2);
  if (slots <= index_.size()) return;
  index_ = {};  // frees the old one before the new one is allocated
  index_.assign(slots, -1);
  for (int32_t id = 0; id < size(); ++id) {
    if (has(id)) index_[slot_of((*this)[id])] = id;
  }
}

void TokenTable::add(int32_t id, std::string_view text) {
  require(id >= 0 && id < kMaxTokens && !has(id) && !text.empty() && !find(text) &&
              texts_.size() + text.size() <= UINT32_MAX,
          ErrorKind::internal, "token {} cannot be added to the table", id);
  grow_index();
  const auto at = static_cast<size_t>(id);
  if (entries_.size() <= at) entries_.resize(at + 1);
  longest_ = std::max(longest_, text.size());
  const Entry entry{static_cast<uint32_t>(texts_.size()), static_cast<uint32_t>(text.size())};
  texts_ += text;
  index_[slot_of(text)] = id;
  entries_[at] = entry;
  ++count_;
}

}  // namespace modewise::io
