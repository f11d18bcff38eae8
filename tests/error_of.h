#pragma once
// Messages of exceptions, so that tests compare them and not only that something was thrown.

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <string>
#include <typeinfo>

#include "modewise/core/error.h"

namespace modewise {

/// The message of the Error that `action` throws; its kind must be `kind`.
inline std::string error_of(ErrorKind kind, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "expected an error";
  return "";
}

/// The first line of the message of the exception that `action` throws; its type must be exactly `Exception`.
/// For exceptions of libtorch and the standard library.
template <class Exception>
std::string exception_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Exception& exception) {
    EXPECT_STREQ(typeid(exception).name(), typeid(Exception).name()) << exception.what();
    const std::string text = exception.what();
    return text.substr(0, text.find('\n'));
  }
  ADD_FAILURE() << "expected an exception";
  return "";
}

}  // namespace modewise
