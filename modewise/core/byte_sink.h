#pragma once
// Streamed bytes: large content is produced in parts and never lies in memory as a whole.

#include <cstddef>
#include <functional>
#include <span>

namespace modewise {

/// Receives the next bytes; they are valid during the call only.
using ByteSink = std::function<void(std::span<const std::byte>)>;
/// Writes all its bytes to a sink; every call gives the same bytes.
using ByteSource = std::function<void(const ByteSink&)>;

}  // namespace modewise
