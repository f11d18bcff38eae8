#pragma once
// The one exception type of modewise outside the operators (those raise c10 errors, so that Python sees them
// too). A message is one sentence: expected, found, and where (file, line or offset).

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace modewise {

/// Category of a failure; it gives the program's exit code (sysexits).
enum class ErrorKind {
  general = 1,
  usage = 2,
  data = 65,      // the input's content is wrong
  no_input = 66,  // the input is missing or cannot be read
  internal = 70,
  cannot_create = 73,  // the output exists already, or its folder is missing
  io = 74,             // a read or write failed
  config = 78,
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  int exit_code() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

/// Throws Error with a formatted sentence.
template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws unless `condition` holds.
template <class... Args>
void require(bool condition, ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) [[unlikely]]
    fail(kind, format, std::forward<Args>(args)...);
}

}  // namespace modewise
