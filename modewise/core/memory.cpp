#include "modewise/core/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace modewise {
namespace {

/// The first number of a file of the system; −1 when there is none ("max").
int64_t system_number(const char* path) {
  std::ifstream file(path);
  int64_t value = -1;
  return file >> value ? value : -1;
}

}  // namespace

int64_t available_memory() {
  int64_t out = std::numeric_limits<int64_t>::max();
  std::ifstream info("/proc/meminfo");
  std::string name, unit;
  for (int64_t kilobytes = 0; info >> name >> kilobytes; std::getline(info, unit))
    if (name == "MemAvailable:") out = kilobytes * 1024;
  const int64_t limit = system_number("/sys/fs/cgroup/memory.max");
  const int64_t used = system_number("/sys/fs/cgroup/memory.current");
  if (limit >= 0 && used >= 0) out = std::min(out, std::max<int64_t>(limit - used, 0));
  return out;
}

std::string memory_text(double bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

}  // namespace modewise
