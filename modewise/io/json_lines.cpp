#include "modewise/io/json_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include "modewise/io/file_kind.h"

#include "modewise/core/error.h"
#include "modewise/core/parse_json.h"

namespace modewise::io {

void for_each_json_line(std::string_view text, const std::string& source,
                        const std::function<void(const nlohmann::json& object, int64_t line)>& each) {
  require(!text.starts_with('['), ErrorKind::data,
          "{}: expected JSON lines, got a JSON list; write its records one per line, in Python for row in "
          "json.load(open(file)): print(json.dumps(row))",
          source);
  if (!text.starts_with('{')) refuse_other_kind(std::as_bytes(std::span(text)), source, "lines of JSON");
  int64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    const size_t last = line.find_last_not_of(" \t\r");
    if (last == std::string_view::npos) continue;
    const auto json =
        parse_json<nlohmann::json>(line.substr(0, last + 1), fmt::format("{}:{}", source, number));
    require(json.is_object(), ErrorKind::data, "{}:{}: a line must be a JSON object", source, number);
    each(json, number);
  }
}

}  // namespace modewise::io
