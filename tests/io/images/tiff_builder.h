#pragma once
// TIFF builder that can break each rule of the format separately.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace modewise::io {

struct TiffTag {
  uint16_t type = 3;  // 3: 16 bits, 4: 32 bits, 12: double, 2: text, 16: 64 bits
  std::vector<uint64_t> values;
  uint64_t count = UINT64_MAX;  // declared count, if wrong
  uint64_t elsewhere = 0;       // declared offset of the values, if wrong; 0: correct
};

/// Little endian. Blocks of `data` begin at byte `kData`.
struct TiffBuilder {
  static constexpr uint64_t kData = 16;
  bool big = false;
  std::map<uint16_t, TiffTag> tags;
  std::string data;
  uint64_t next = 0;
  bool twice = false;  // duplicate the last tag

  /// 3 × 2 pixels of one byte in one strip.
  static TiffBuilder small() {
    TiffBuilder file;
    file.data = {1, 2, 3, 4, 5, 6};
    file.tags = {{256, {3, {3}}},     {257, {3, {2}}}, {258, {3, {8}}}, {259, {3, {1}}}, {262, {3, {1}}},
                 {273, {4, {kData}}}, {277, {3, {1}}}, {278, {3, {2}}}, {279, {4, {6}}}};
    return file;
  }
  /// The same with other tags.
  TiffBuilder with(const std::map<uint16_t, TiffTag>& others) const {
    TiffBuilder file = *this;
    for (const auto& [tag, value] : others) file.tags[tag] = value;
    return file;
  }
  TiffBuilder without(uint16_t tag) const {
    TiffBuilder file = *this;
    file.tags.erase(tag);
    return file;
  }

  std::string text() const {
    const size_t word = big ? 8 : 4;
    std::string content = data;
    if (content.size() % 2 == 1) content += '\0';
    std::string directory;
    append(directory, tags.size() + (twice ? 1 : 0), big ? 8 : 2);
    for (const auto& [tag, value] : tags) {
      append_entry(directory, content, tag, value, word);
      if (twice && tag == tags.rbegin()->first) append_entry(directory, content, tag, value, word);
    }
    append(directory, next, word);
    std::string file = "II";
    append(file, big ? 43 : 42, 2);
    if (big) append(file, 8, 4);
    append(file, kData + content.size(), word);
    file.resize(kData, '\0');
    return file + content + directory;
  }

  static void append(std::string& out, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  }

 private:
  static size_t size_of(uint16_t type) {
    return type == 3 ? 2 : type == 4 ? 4 : type == 12 || type == 16 ? 8 : 1;
  }
  static void append_entry(std::string& directory, std::string& content, uint16_t tag, const TiffTag& value,
                           size_t word) {
    std::string raw;
    for (const uint64_t number : value.values) append(raw, number, size_of(value.type));
    append(directory, tag, 2);
    append(directory, value.type, 2);
    append(directory, value.count == UINT64_MAX ? value.values.size() : value.count, word);
    if (value.elsewhere != 0) {
      append(directory, value.elsewhere, word);
    } else if (raw.size() <= word) {
      raw.resize(word, '\0');
      directory += raw;
    } else {
      append(directory, kData + content.size(), word);
      content += raw;
      if (content.size() % 2 == 1) content += '\0';
    }
  }
};

inline TiffTag text_tag(const std::string& text) {
  TiffTag tag{2, {}};
  for (const char c : text) tag.values.push_back(static_cast<uint8_t>(c));
  tag.values.push_back(0);
  return tag;
}

}  // namespace modewise::io
