#include "modewise/core/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace modewise {

void hold_standard_streams() {
  // The way in which each is opened; for the first two the one that its users cannot use.
  constexpr std::array<int, 3> kWays = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    const int opened = ::open("/dev/null", kWays[static_cast<size_t>(stream)]);
    if (opened != stream) std::abort();  // open takes the smallest number that is free
  }
}

}  // namespace modewise
