#pragma once
// Compact column of short strings in one buffer: 4 bytes per cell besides its characters, where a vector of
// strings takes 32.

#include <cstdint>
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
    if (text.size() > UINT32_MAX - characters_.size()) return false;
    characters_ += text;
    ends_.push_back(static_cast<uint32_t>(characters_.size()));
    return true;
  }
  void reserve(size_t cells) { ends_.reserve(cells); }

  size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::string_view operator[](size_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(characters_).substr(begin, ends_[index] - begin);
  }
  std::string_view back() const { return (*this)[size() - 1]; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }
  bool operator==(const TextCells&) const = default;

 private:
  std::string characters_;
  std::vector<uint32_t> ends_;
};

}  // namespace modewise::io
