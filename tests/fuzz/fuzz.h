#pragma once
// Shared code of the fuzz targets: a reader may throw errors of a few kinds and nothing else.
//
//   FUZZ_TARGET(csv) { ... data, size ...; return survive([&] { ... }); }

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <span>
#include <string_view>

#include "modewise/core/error.h"

/// Defines the target of a reader, the function of `data` and `size` that libFuzzer calls; in a program
/// of replay_main.cpp there are several, by name.
#ifdef MODEWISE_FUZZ
#define FUZZ_TARGET(name) extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
#else
#define FUZZ_TARGET(name)                                                                           \
  static int fuzz_##name(const uint8_t* data, size_t size);                                         \
  static const bool added_##name = modewise::io::fuzz_targets().emplace(#name, fuzz_##name).second; \
  static int fuzz_##name(const uint8_t* data, size_t size)
#endif

namespace modewise::io {

using FuzzTarget = int (*)(const uint8_t* data, size_t size);

inline std::map<std::string_view, FuzzTarget>& fuzz_targets() {
  static std::map<std::string_view, FuzzTarget> targets;
  return targets;
}

inline std::span<const std::byte> input_bytes(const uint8_t* data, size_t size) {
  return std::as_bytes(std::span(data, size));
}

inline std::string_view input_text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// The input up to the first NUL byte, and the rest.
struct TwoTexts {
  std::string_view first, second;
  explicit TwoTexts(std::string_view input)
      : first(input.substr(0, input.find('\0'))),
        second(input.substr(std::min(first.size() + 1, input.size()))) {}
};

/// Stops the fuzzer if a property does not hold.
inline void expect(bool holds) {
  if (!holds) std::abort();
}

template <class Body>
int survive(Body&& body, std::initializer_list<ErrorKind> kinds = {ErrorKind::data}) {
  try {
    body();
  } catch (const Error& error) {
    if (std::find(kinds.begin(), kinds.end(), error.kind()) == kinds.end()) throw;
  }
  return 0;
}

}  // namespace modewise::io
