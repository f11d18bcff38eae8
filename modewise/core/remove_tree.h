#pragma once
// Removal of files and folders in spite of signals.

#include <filesystem>
#include <system_error>

#include "modewise/core/error.h"

namespace modewise {

/// std::filesystem::remove_all, repeated when a signal interrupts it, as on network file systems.
inline void remove_tree(const std::filesystem::path& path, std::error_code& error) {
  do {
    error.clear();
    std::filesystem::remove_all(path, error);
  } while (error == std::errc::interrupted);
}

inline void remove_tree(const std::filesystem::path& path) {
  std::error_code error;
  remove_tree(path, error);
  require(!error, ErrorKind::io, "cannot remove {}: {}", path.string(), error.message());
}

}  // namespace modewise
