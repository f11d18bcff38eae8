#pragma once
// Kinds of files by their first bytes, for error messages about files of another kind than expected.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace modewise::io {

struct FileKind {
  /// "a PNG image", "an HTML page", "an empty file"; "" if the bytes say nothing.
  std::string_view name;
  /// How to make a file of it that modewise reads: "unpack it with gunzip"; "" if there is no usual way.
  std::string_view remedy = "";
};

/// `bytes` should be the whole file, or at least its first 512 bytes.
FileKind file_kind(std::span<const std::byte> bytes);
/// The same for binary formats only: "" for an HTML page and an empty file.
FileKind binary_kind(std::span<const std::byte> bytes);
/// Throws a data error "SOURCE: expected WANTED, got a PNG image" if the kind is known: for readers that have
/// not found their own signature.
void refuse_other_kind(std::span<const std::byte> bytes, const std::string& source, std::string_view wanted);

}  // namespace modewise::io
