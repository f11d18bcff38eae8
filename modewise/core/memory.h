#pragma once
// How much memory is left, so that what cannot fit is refused before it is tried.

#include <cstdint>
#include <string>

namespace modewise {

/// Bytes that this process may still take without swapping: the smaller of what the system reports as
/// available and what its control group allows. Very large where neither says.
int64_t available_memory();

/// "1.5 GiB"
std::string memory_text(double bytes);

}  // namespace modewise
