#include <string>

#include "modewise/core/file.h"
#include "modewise/io/text_input.h"
#include "modewise/io/utf8.h"
#include "tests/fuzz/table_fuzz.h"

using namespace modewise;
using namespace modewise::io;

namespace {

std::string utf16_of(std::string_view utf8, bool little) {
  std::string out;
  const auto add = [&](char32_t unit) {
    const char high = static_cast<char>(unit >> 8), low = static_cast<char>(unit & 0xFF);
    out += little ? low : high;
    out += little ? high : low;
  };
  add(0xFEFF);
  for (size_t length = 0; !utf8.empty(); utf8.remove_prefix(length)) {
    length = utf8_length(utf8);
    const char32_t c = utf8_code_point(utf8.substr(0, length));
    if (c < 0x10000) {
      add(c);
    } else {
      add(0xD800 + ((c - 0x10000) >> 10));
      add(0xDC00 + ((c - 0x10000) & 0x3FF));
    }
  }
  return out;
}

}  // namespace

// Any bytes as UTF-16, then the input, a text, as UTF-8 and as UTF-16: the two must have the same text.
FUZZ_TARGET(utf16_table) {
  const std::string_view text = input_text(data, size);
  for (const char* mark : {"\xFF\xFE", "\xFE\xFF"})
    survive([&] {
      const std::string units = mark + std::string(text);
      expect(find_invalid_utf8(TextInput(as_bytes(units), "file").text()) == std::string_view::npos);
      expect_whole(parse_csv(as_bytes(units), "file"));
    });
  return survive([&] {
    const TextInput input(as_bytes(text), "file");
    const std::string wide = utf16_of(input.text(), size % 2 == 0);
    expect(TextInput(as_bytes(wide), "file").text() == input.text());
    expect_whole(parse_csv(as_bytes(wide), "file"));
  });
}
