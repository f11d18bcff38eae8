#include "modewise/text/canonical_form.h"

#include <algorithm>
#include <vector>

#include "modewise/io/utf8.h"
#include "modewise/text/unicode.h"

namespace modewise::text {

std::string canonical_form(std::string_view text) {
  std::string out;
  std::vector<char32_t> marks;  // combining marks since the last other character
  const auto flush = [&] {
    std::stable_sort(marks.begin(), marks.end(),
                     [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    for (const char32_t mark : marks) io::append_utf8(out, mark);
    marks.clear();
  };
  while (!text.empty()) {
    const size_t length = io::utf8_length(text);
    if (length == 0) {
      flush();
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    visit_decomposition(io::utf8_code_point(text.substr(0, length)), [&](char32_t c) {
      if (combining_class(c) == 0) flush();
      marks.push_back(c);
    });
    text.remove_prefix(length);
  }
  flush();
  return out;
}

}  // namespace modewise::text
