#include "modewise/core/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace modewise {
namespace {

/// The first number in a system file; −1 if there is none ("max").
int64_t system_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  int64_t value = -1;
  return file >> value ? value : -1;
}

}  // namespace

int64_t free_in_group(const std::filesystem::path& group) {
  const int64_t limit = system_number(group / "memory.max");
  int64_t used = system_number(group / "memory.current");
  if (limit < 0 || used < 0) return std::numeric_limits<int64_t>::max();
  std::ifstream parts(group / "memory.stat");
  std::string name;
  for (int64_t bytes = 0; parts >> name >> bytes;)
    if (name == "active_file" || name == "inactive_file") used -= bytes;
  return std::clamp<int64_t>(limit - used, 0, limit);
}

int64_t available_memory() {
  int64_t out = std::numeric_limits<int64_t>::max();
  std::ifstream info("/proc/meminfo");
  std::string name, unit;
  for (int64_t kilobytes = 0; info >> name >> kilobytes; std::getline(info, unit))
    if (name == "MemAvailable:") out = kilobytes * 1024;
  return std::min(out, free_in_group("/sys/fs/cgroup"));
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
