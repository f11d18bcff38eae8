#include "modewise/io/images/world_file.h"

#include <fmt/format.h>

#include <sstream>
#include <string>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/io/number_text.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

namespace fs = std::filesystem;

/// The world file of `image`, empty if there is none: first and last letter of the image's extension and a w
/// (.tfw, .pgw, .jgw), the extension with a w, or .wld.
fs::path find_world_file(const fs::path& image) {
  const std::string own = image.extension().string();
  const std::string letters = own.size() < 2 ? "." : fmt::format(".{}{}", own[1], own.back());
  for (const std::string& ending :
       {letters + "w", own + "w", std::string(".wld"), letters + "W", own + "W", std::string(".WLD")}) {
    fs::path file = fs::path(image).replace_extension(ending);
    std::error_code none;
    if (fs::is_regular_file(file, none)) return file;
  }
  return {};
}

}  // namespace

std::optional<std::array<double, 6>> read_world_file(const fs::path& image) {
  const fs::path file = find_world_file(image);
  if (file.empty()) return std::nullopt;
  std::istringstream lines(read_file(file));
  std::array<double, 6> values{};
  for (size_t i = 0; i < values.size(); ++i) {
    std::string line;
    std::getline(lines, line);
    require(parse_number(line, '.', values[i]), ErrorKind::data,
            "{}: line {}: a world file has six lines with a number each, got {}", file.string(), i + 1,
            quote_for_message(line));
  }
  // The order of the lines is a, d, b, e, and c and f of the centre of the first pixel.
  const auto [a, d, b, e, c, f] = values;
  return std::array<double, 6>{a, b, c - 0.5 * (a + b), d, e, f - 0.5 * (d + e)};
}

}  // namespace modewise::io
