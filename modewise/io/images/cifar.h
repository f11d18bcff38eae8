#pragma once
// CIFAR-10 in its binary format (Krizhevsky, "Learning multiple layers of features from tiny images", 2009):
// records of 3,073 bytes, a label from 0 to 9 and 32 × 32 pixels, first all red, then all green, then all
// blue.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace modewise::io {

inline constexpr int64_t kCifarSide = 32, kCifarClasses = 10, kCifarRecord = 3073;

/// Class names by label, from the data set's own file of names.
inline constexpr std::array<const char*, kCifarClasses> kCifarNames = {
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};

struct CifarBatch {
  std::vector<uint8_t> labels;
  std::vector<uint8_t> pixels;  // [n, 32, 32, 3]
};

/// Throws data errors that name `source`, the record and the rule.
CifarBatch parse_cifar(std::span<const std::byte> bytes, const std::string& source);
CifarBatch read_cifar(const std::filesystem::path& path);

}  // namespace modewise::io
