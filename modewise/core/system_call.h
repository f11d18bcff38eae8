#pragma once
// Why a system call failed, as the end of a sentence.

#include <cerrno>
#include <string_view>
#include <system_error>

#include "modewise/core/error.h"

namespace modewise {

/// Throws "WHAT PLACE: the system's reason" unless the call was `done`. errno is read before anything else
/// runs: a message that is put together beside the call, as an argument of require, may read it before the
/// call was made. So `place` is a view, such as path.native(), whose making calls nothing.
inline void require_call(bool done, ErrorKind kind, std::string_view what, std::string_view place) {
  if (done) [[likely]]
    return;
  const int error = errno;
  fail(kind, "{} {}: {}", what, place, std::generic_category().message(error));
}

}  // namespace modewise
