#pragma once
// System calls that fail on request, for tests of what the program says and leaves then.

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <string>
#include <string_view>

#include "tests/error_of.h"

namespace modewise {

/// While it lives, `count` calls of one function of the C library by modewise and the C++ library fail with
/// errno = `error`, or give 0 if that is 0, beginning with call `first`, counted from 1. One lives at a time.
class FailingCalls {
 public:
  /// `name`: a function of failing_calls.cpp.
  FailingCalls(std::string_view name, int error, int first = 1, int count = 1);
  ~FailingCalls();
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;

  std::string_view name() const { return name_; }
  /// Counts a call. Whether it fails.
  bool take_call();
  int error() const { return error_; }
  /// How many calls there were.
  int calls() const { return calls_; }

 private:
  std::string_view name_;
  int error_, first_, count_, calls_ = 0;
};

/// The error of `action` when the first call of `name` fails.
inline std::string error_with(std::string_view name, int error, ErrorKind kind,
                              const std::function<void()>& action) {
  const FailingCalls calls(name, error);
  return error_of(kind, action);
}

/// `action` has no error when the first three calls of `name` are interrupted, and there are more.
inline void expect_repeated(std::string_view name, const std::function<void()>& action) {
  SCOPED_TRACE(name);
  const FailingCalls calls(name, EINTR, 1, 3);
  action();
  EXPECT_GT(calls.calls(), 3);
}

}  // namespace modewise
