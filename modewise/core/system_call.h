#pragma once
// Errors of system calls, with the system's reason, and calls that are repeated when a signal interrupts
// them.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "modewise/core/error.h"

namespace modewise {

/// Throws "WHAT PLACE: the system's reason" unless the call was `done`. errno is read before anything else
/// runs: a message that is built as an argument of require may read errno before the call. So `place` is a
/// view, such as path.native(), which needs no call.
inline void require_call(bool done, ErrorKind kind, std::string_view what, std::string_view place) {
  if (done) [[likely]]
    return;
  const int error = errno;
  fail(kind, "{} {}: {}", what, place, std::generic_category().message(error));
}

/// open(2), repeated when a signal interrupts it, as on network file systems.
inline int open_file(const char* path, int flags, mode_t mode = 0) {
  while (true) {
    const int descriptor = ::open(path, flags, mode);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

/// read(2), repeated when a signal interrupts it.
inline ssize_t read_some(int descriptor, void* bytes, size_t size) {
  while (true) {
    const ssize_t count = ::read(descriptor, bytes, size);
    if (count >= 0 || errno != EINTR) return count;
  }
}

}  // namespace modewise
