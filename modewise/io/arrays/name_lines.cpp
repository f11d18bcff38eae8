#include "modewise/io/arrays/name_lines.h"

#include <algorithm>
#include <iterator>

namespace modewise::io {

Array name_lines(std::span<const std::string> names) {
  std::string lines;
  for (const std::string& name : names) {
    std::ranges::replace_copy_if(
        name, std::back_inserter(lines), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    lines += '\n';
  }
  return make_array({std::ssize(lines)},
                    std::span(reinterpret_cast<const uint8_t*>(lines.data()), lines.size()));
}

}  // namespace modewise::io
