#include "modewise/core/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "modewise/core/file.h"
#include "modewise/core/system_call.h"
#include "modewise/core/utf8.h"

namespace modewise {

void hold_standard_streams() {
  // Open mode of each; stdin is opened for writing and stdout for reading, so that their use fails.
  constexpr std::array<int, 3> kWays = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    const int opened = ::open("/dev/null", kWays[static_cast<size_t>(stream)]);
    if (opened != stream) std::abort();  // open returns the smallest free number
  }
}

std::string read_standard_input() {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = read_some(STDIN_FILENO, buffer, sizeof buffer);
    require_call(count >= 0, ErrorKind::io, "cannot read", "standard input");
    if (count == 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

std::string read_text(const std::string& path) {
  const std::string bytes = path == "-" ? read_standard_input() : read_file(path);
  return std::string(without_byte_order_mark(bytes));
}

}  // namespace modewise
