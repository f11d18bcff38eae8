#pragma once
// Compact column of short strings in one buffer: at most about 4 bytes per cell besides its characters, where
// a vector of strings takes 32; texts that repeat, such as ids of series, are stored once.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::io {

class TextCells {
 public:
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;

    const_iterator() = default;
    const_iterator(const TextCells* cells, size_t index) : cells_(cells), index_(index) {}
    std::string_view operator*() const { return (*cells_)[index_]; }
    const_iterator& operator++() {
      ++index_;
      return *this;
    }
    const_iterator operator++(int) { return {cells_, index_++}; }
    bool operator==(const const_iterator&) const = default;

   private:
    const TextCells* cells_ = nullptr;
    size_t index_ = 0;
  };

  TextCells() = default;
  TextCells(std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) push_back(text);
  }

  /// False, and adds nothing, if all texts together would exceed 4 GiB.
  bool push_back(std::string_view text) {
    if (distinct_ && !slots_.empty() && !cells_.empty() && text == back()) {
      cells_.push_back(cells_.back());
      return true;
    }
    if (!distinct_) return append(text);
    if (2 * (ends_.size() + 1) > slots_.size() && !grow()) return append(text);
    uint32_t& slot = slot_of(text);
    if (slot == kFree) {
      if (!append(text)) return false;
      slot = static_cast<uint32_t>(ends_.size() - 1);
    }
    cells_.push_back(slot);
    return true;
  }
  void reserve(size_t cells) { cells_.reserve(cells); }

  size_t size() const { return distinct_ ? cells_.size() : ends_.size(); }
  bool empty() const { return size() == 0; }
  std::string_view operator[](size_t index) const { return text(distinct_ ? cells_[index] : index); }
  std::string_view back() const { return (*this)[size() - 1]; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }
  bool operator==(const TextCells&) const = default;

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  static constexpr size_t kFewSlots = 1024;

  std::string_view text(size_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(characters_).substr(begin, ends_[index] - begin);
  }
  bool append(std::string_view text) {
    if (text.size() > UINT32_MAX - characters_.size()) return false;
    characters_ += text;
    ends_.push_back(static_cast<uint32_t>(characters_.size()));
    return true;
  }
  /// The slot that holds `text`, or a free one.
  uint32_t& slot_of(std::string_view text) {
    const size_t mask = slots_.size() - 1;
    size_t at = std::hash<std::string_view>{}(text)&mask;
    while (slots_[at] != kFree && this->text(slots_[at]) != text) at = (at + 1) & mask;
    return slots_[at];
  }
  /// Doubles the slots. If most texts differ, stores one text per cell from now on, and returns false.
  bool grow() {
    if (!slots_.empty() && 4 * ends_.size() > cells_.size()) {
      TextCells plain;
      plain.distinct_ = false;
      plain.ends_.reserve(cells_.capacity());
      for (const std::string_view cell : *this) plain.append(cell);
      *this = std::move(plain);
      return false;
    }
    slots_.assign(std::max(2 * slots_.size(), kFewSlots), kFree);
    for (size_t i = 0; i < ends_.size(); ++i) slot_of(text(i)) = static_cast<uint32_t>(i);
    return true;
  }

  bool distinct_ = true;         // cells_ has the index of each cell's text; else cell i is text i
  std::vector<uint32_t> cells_;  // while `distinct_`
  std::string characters_;
  std::vector<uint32_t> ends_;
  std::vector<uint32_t> slots_;  // open addressing: indices of texts by hash
};

}  // namespace modewise::io
