#pragma once
// Peak resident memory of this process, as Linux counts it.

#include <cstdint>
#include <fstream>
#include <string>

namespace modewise {

/// Value of a field of /proc/self/status, in bytes.
inline int64_t status_bytes(const std::string& wanted) {
  std::ifstream file("/proc/self/status");
  for (std::string name; file >> name; file.ignore(1000, '\n')) {
    int64_t kilobytes = 0;
    if (name == wanted && file >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

/// Peak during action(), beyond the resident memory before it.
template <class Action>
int64_t resident_peak(const Action& action) {
  std::ofstream("/proc/self/clear_refs") << 5 << std::flush;  // resets the peak
  const int64_t before = status_bytes("VmRSS:");
  action();
  return status_bytes("VmHWM:") - before;
}

}  // namespace modewise
