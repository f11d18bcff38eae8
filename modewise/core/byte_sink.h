#pragma once
// Bytes that are made part by part, so that what is large never lies in memory as a whole.

#include <cstddef>
#include <functional>
#include <span>

namespace modewise {

/// Takes the next bytes; they need not outlive the call.
using ByteSink = std::function<void(std::span<const std::byte>)>;
/// Gives all its bytes to a sink, the same ones at each call.
using ByteSource = std::function<void(const ByteSink&)>;

}  // namespace modewise
