#pragma once
// Build and machine information; printed by `info`, saved in every run's manifest. Folders that are installed
// with the libraries.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace modewise {

struct BuildInfo {
  std::string version, commit, compiler, build_type;
};
struct MachineInfo {
  std::string processor, system, host;
  int cores = 0;
  double memory_gib = 0;
  std::vector<std::string>
      instruction_sets;  // those that kernels use: avx2, fma, avx512f, avx512_bf16, amx_bf16
};

BuildInfo build_info();
MachineInfo machine_info();
nlohmann::json to_json(const BuildInfo& build);
nlohmann::json to_json(const MachineInfo& machine);

/// share/modewise/NAME beside the folder of this library: installed, in a wheel, or a link in the build
/// folder.
std::filesystem::path installed_folder(const std::string& name);

}  // namespace modewise
