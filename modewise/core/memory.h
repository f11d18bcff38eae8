#pragma once
// Available memory, so that work that cannot fit is refused before it starts.

#include <cstdint>
#include <filesystem>
#include <string>

namespace modewise {

/// Bytes that this process may still allocate without swapping: the smaller of the system's available memory
/// and what the control group allows. Very large if neither is known.
int64_t available_memory();

/// Free bytes of a control group (version 2, by its folder): its limit minus its usage without the page
/// cache, which the system reclaims on demand. Very large if there is no limit.
int64_t free_in_group(const std::filesystem::path& group);

/// "1.5 GiB"
std::string memory_text(double bytes);

}  // namespace modewise
