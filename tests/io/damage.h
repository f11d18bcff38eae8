#pragma once
// Checks for readers on damaged input: it throws a data error that names the source, or parses; it never
// crashes. Inputs are copied to blocks of their exact size, so that AddressSanitizer detects reads beyond the
// end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/error.h"

namespace modewise::io {

/// Large inputs are reduced to this many bytes if sanitizers or missing optimisation make them slow; bounds
/// are then hardly tested, but every step is.
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
inline constexpr size_t kLarge = size_t{1} << 20;
#else
inline constexpr size_t kLarge = size_t{64} << 20;
#endif

using Parse = std::function<void(std::span<const std::byte>)>;

inline std::vector<std::byte> to_bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline std::string to_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The message of the data error that `parse` throws; empty if it throws none.
inline std::string message_of(const Parse& parse, std::string_view content) {
  const std::vector<std::byte> bytes = to_bytes(content);
  try {
    parse(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
    EXPECT_THAT(error.what(), testing::StartsWith("file"));
    return error.what();
  }
  return "";
}

inline void expect_every_truncation_fails(const Parse& parse, std::string_view valid) {
  EXPECT_EQ(message_of(parse, valid), "");
  for (size_t length = 0; length < valid.size(); ++length) {
    EXPECT_NE(message_of(parse, valid.substr(0, length)), "") << "the first " << length << " bytes";
  }
}

/// Flips every bit of the first 4 KiB, one at a time, and sets every byte to 00 and FF.
inline void expect_flips_are_clean(const Parse& parse, std::string_view valid) {
  std::string content(valid);
  for (size_t at = 0; at < std::min<size_t>(valid.size(), 4096); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      content[at] = static_cast<char>(valid[at] ^ (1 << bit));
      message_of(parse, content);
    }
    for (const char value : {'\0', '\xFF'}) {
      content[at] = value;
      message_of(parse, content);
    }
    content[at] = valid[at];
  }
}

struct Corruption {
  std::string name, content;
  std::string message;  // complete; "…" at an end: text that depends on the version of zlib or libtiff
};

inline void expect_refused(const Parse& parse, const std::vector<Corruption>& corruptions) {
  for (const Corruption& corruption : corruptions) {
    const std::string got = message_of(parse, corruption.content), &wanted = corruption.message;
    if (wanted.starts_with("…"))
      EXPECT_THAT(got, testing::EndsWith(wanted.substr(3))) << corruption.name;
    else if (wanted.ends_with("…"))
      EXPECT_THAT(got, testing::StartsWith(wanted.substr(0, wanted.size() - 3))) << corruption.name;
    else
      EXPECT_EQ(got, wanted) << corruption.name;
  }
}

}  // namespace modewise::io
