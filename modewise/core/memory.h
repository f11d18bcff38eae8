#pragma once
// How much memory is left, so that what cannot fit is refused before it is tried.

#include <cstdint>
#include <filesystem>
#include <string>

namespace modewise {

/// Bytes that this process may still take without swapping: the smaller of what the system reports as
/// available and what its control group allows. Very large where neither says.
int64_t available_memory();

/// Bytes that a control group (version 2, by its folder) leaves: its limit less what is used, without the
/// pages of files, which the system gives back when they are needed. Very large where there is no limit.
int64_t free_in_group(const std::filesystem::path& group);

/// "1.5 GiB"
std::string memory_text(double bytes);

}  // namespace modewise
