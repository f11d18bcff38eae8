#pragma once
// Compact columns of short strings in one buffer: at most about 4 bytes per cell besides its characters,
// where a vector of strings takes 32; texts that repeat, such as ids of series, are stored once.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::io {

/// Texts in one buffer.
class PackedTexts {
 public:
  /// False, and adds nothing, if all texts together would exceed 4 GiB.
  bool push_back(std::string_view text) {
    if (text.size() > UINT32_MAX - characters_.size()) return false;
    characters_ += text;
    ends_.push_back(static_cast<uint32_t>(characters_.size()));
    return true;
  }
  void reserve(size_t texts) { ends_.reserve(texts); }

  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(characters_).substr(begin, ends_[index] - begin);
  }
  bool operator==(const PackedTexts&) const = default;

 private:
  std::string characters_;
  std::vector<uint32_t> ends_;
};

/// Texts that all differ, with the index of each.
class DistinctTexts {
 public:
  static constexpr uint32_t kFull = UINT32_MAX;

  /// The index of `text`, which is added if it is new; kFull if all texts together would exceed 4 GiB.
  uint32_t add(std::string_view text) {
    if (must_grow()) grow();
    uint32_t& slot = slot_of(text);
    if (slot == kFull && texts_.push_back(text)) slot = static_cast<uint32_t>(texts_.size() - 1);
    return slot;
  }
  /// Whether the next text doubles the slots.
  bool must_grow() const { return 2 * (texts_.size() + 1) > slots_.size(); }

  size_t size() const { return texts_.size(); }
  std::string_view operator[](size_t index) const { return texts_[index]; }
  bool operator==(const DistinctTexts&) const = default;

 private:
  static constexpr size_t kFewSlots = 1024;

  /// The slot that holds the index of `text`, or a free one, which holds kFull.
  uint32_t& slot_of(std::string_view text) {
    const size_t mask = slots_.size() - 1;
    size_t at = std::hash<std::string_view>{}(text)&mask;
    while (slots_[at] != kFull && texts_[slots_[at]] != text) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    slots_.assign(std::max(2 * slots_.size(), kFewSlots), kFull);
    for (size_t i = 0; i < texts_.size(); ++i) slot_of(texts_[i]) = static_cast<uint32_t>(i);
  }

  PackedTexts texts_;
  std::vector<uint32_t> slots_;  // open addressing: indices of texts by hash
};

/// Cells of a column. While many of them repeat, each holds the index of its text.
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
    if (!repeat_) return plain_.push_back(text);
    if (!cells_.empty() && text == back()) {
      cells_.push_back(cells_.back());
      return true;
    }
    if (distinct_.must_grow() && 4 * distinct_.size() > cells_.size()) {
      store_plain();
      return plain_.push_back(text);
    }
    const uint32_t index = distinct_.add(text);
    if (index == DistinctTexts::kFull) return false;
    cells_.push_back(index);
    return true;
  }
  void reserve(size_t cells) { cells_.reserve(cells); }

  size_t size() const { return repeat_ ? cells_.size() : plain_.size(); }
  bool empty() const { return size() == 0; }
  std::string_view operator[](size_t index) const {
    return repeat_ ? distinct_[cells_[index]] : plain_[index];
  }
  std::string_view back() const { return (*this)[size() - 1]; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }
  bool operator==(const TextCells&) const = default;

 private:
  /// Stores one text per cell from now on, because most differ.
  void store_plain() {
    plain_.reserve(cells_.capacity());
    for (const std::string_view cell : *this) plain_.push_back(cell);
    repeat_ = false;
    std::vector<uint32_t>().swap(cells_);
    distinct_ = {};
  }

  bool repeat_ = true;
  std::vector<uint32_t> cells_;  // while they repeat: indices of `distinct_`
  DistinctTexts distinct_;
  PackedTexts plain_;
};

}  // namespace modewise::io
