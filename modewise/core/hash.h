#pragma once
// Content hashes for manifests: XXH3, 128 bits, in hexadecimal.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct XXH3_state_s;

namespace modewise {

/// 32 hexadecimal digits.
std::string content_hash(std::span<const std::byte> bytes);

/// A hash of 64 bits, to find equal contents.
uint64_t content_number(std::span<const std::byte> bytes);

/// The hash of content_hash() of streamed bytes; it does not depend on how they are split.
class ContentHash {
 public:
  ContentHash();
  void add(std::span<const std::byte> bytes);
  std::string text() const;

 private:
  std::unique_ptr<XXH3_state_s, void (*)(XXH3_state_s*)> state_;
};

}  // namespace modewise
