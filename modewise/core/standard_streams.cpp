#include "modewise/core/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "modewise/core/system_call.h"

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
  constexpr size_t kBlock = size_t{1} << 20;
  std::string text;
  while (true) {
    const size_t had = text.size();
    text.resize(had + kBlock);
    const ssize_t count = ::read(STDIN_FILENO, text.data() + had, kBlock);
    if (count < 0 && errno == EINTR) {
      text.resize(had);
      continue;
    }
    require_call(count >= 0, ErrorKind::io, "cannot read", "standard input");
    text.resize(had + static_cast<size_t>(count));
    if (count == 0) return text;
  }
}

}  // namespace modewise
