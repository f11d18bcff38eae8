#pragma once
// The most memory that this process has resident at one time, as Linux counts it.

#include <cstdint>
#include <fstream>
#include <string>

namespace modewise {

/// A line of /proc/self/status, in bytes.
inline int64_t status_bytes(const std::string& wanted) {
  std::ifstream file("/proc/self/status");
  for (std::string name; file >> name; file.ignore(1000, '\n')) {
    int64_t kilobytes = 0;
    if (name == wanted && file >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

/// The peak during action(), beyond what is resident before.
template <class Action>
int64_t resident_peak(const Action& action) {
  std::ofstream("/proc/self/clear_refs") << 5 << std::flush;  // counted anew from here on
  const int64_t before = status_bytes("VmRSS:");
  action();
  return status_bytes("VmHWM:") - before;
}

}  // namespace modewise
