#pragma once
// Content hashes for manifests: XXH3, 128 bits, in hexadecimal.

#include <cstddef>
#include <span>
#include <string>

namespace modewise {

/// 32 hexadecimal digits.
std::string content_hash(std::span<const std::byte> bytes);

}  // namespace modewise
