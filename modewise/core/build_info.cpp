#include "modewise/core/build_info.h"

#include <dlfcn.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "modewise/core/error.h"
#include "modewise_version.h"

namespace modewise {
namespace {

/// The value of "key : value" in /proc/cpuinfo; "" if absent.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos && colon + 2 <= line.size())
      return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

BuildInfo build_info() {
  return {MODEWISE_VERSION, MODEWISE_COMMIT, MODEWISE_COMPILER, MODEWISE_BUILD_TYPE};
}

MachineInfo machine_info() {
  MachineInfo machine;
  machine.processor = cpuinfo("model name");
  utsname name{};
  if (uname(&name) == 0) {
    machine.system = std::string(name.sysname) + " " + name.release + " " + name.machine;
    machine.host = name.nodename;
  }
  machine.cores = static_cast<int>(std::thread::hardware_concurrency());
  machine.memory_gib = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<double>(sysconf(_SC_PAGE_SIZE)) / (1024.0 * 1024.0 * 1024.0);
  std::istringstream flags(cpuinfo("flags"));
  for (std::string flag; flags >> flag;)
    for (const char* wanted : {"avx2", "fma", "avx512f", "avx512_bf16", "amx_bf16"})
      if (flag == wanted) machine.instruction_sets.push_back(flag);
  return machine;
}

nlohmann::json to_json(const BuildInfo& build) {
  return {{"version", build.version},
          {"commit", build.commit},
          {"compiler", build.compiler},
          {"build_type", build.build_type}};
}

nlohmann::json to_json(const MachineInfo& machine) {
  return {{"processor", machine.processor},
          {"system", machine.system},
          {"host", machine.host},
          {"cores", machine.cores},
          {"memory_gib", machine.memory_gib},
          {"instruction_sets", machine.instruction_sets}};
}

std::filesystem::path installed_folder(const std::string& name) {
  Dl_info info{};
  require(dladdr(reinterpret_cast<const void*>(&installed_folder), &info) != 0, ErrorKind::io,
          "the folder of this program's libraries is not known: {} cannot be found there", name);
  return std::filesystem::canonical(info.dli_fname).parent_path().parent_path() / "share" / "modewise" / name;
}

}  // namespace modewise
