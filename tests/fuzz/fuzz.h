#pragma once
// Shared code of the fuzz targets: a reader may throw a data error and nothing else.

#include <cstdint>
#include <cstdlib>
#include <span>

#include "modewise/core/error.h"

namespace modewise::io {

inline std::span<const std::byte> input_bytes(const uint8_t* data, size_t size) {
  return std::as_bytes(std::span(data, size));
}

/// Stops the fuzzer if a property does not hold.
inline void expect(bool holds) {
  if (!holds) std::abort();
}

template <class Body>
int survive(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    expect(error.kind() == ErrorKind::data);
  }
  return 0;
}

}  // namespace modewise::io
