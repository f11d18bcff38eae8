#include "modewise/core/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

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

}  // namespace modewise
