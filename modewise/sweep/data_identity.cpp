#include "modewise/sweep/data_identity.h"

#include <array>
#include <filesystem>
#include <fstream>

#include "modewise/core/data_files.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/sweep/toml_reader.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;

void add_file(ContentHash& hash, const fs::path& file) {
  std::array<char, 1 << 16> buffer{};
  std::ifstream in(file, std::ios::binary);
  while (in.read(buffer.data(), std::ssize(buffer)) || in.gcount() > 0)
    hash.add(as_bytes({buffer.data(), static_cast<size_t>(in.gcount())}));
}

/// "key=value" under data.* of the plan, its config and the run, in order of application.
std::vector<std::string> data_settings(const SweepPlan& plan, const SweepRun& run) {
  std::vector<std::string> all;
  if (!plan.config.empty()) {
    const TomlReader config(plan.config, read_file(plan.config));
    config.add_settings(config.root(), "", all);
  }
  if (!plan.data.empty()) all.push_back("data.path=" + plan.data);
  all.insert(all.end(), run.settings.begin(), run.settings.end());
  std::erase_if(all, [](const std::string& one) { return !one.starts_with("data."); });
  return all;
}

}  // namespace

std::string DataIdentity::of(const SweepPlan& plan, const SweepRun& run) {
  std::map<std::string, std::string> paths;  // by key
  for (const std::string& setting : data_settings(plan, run)) {
    const size_t equals = setting.find('=');
    paths[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  std::string all;
  for (const auto& [key, path] : paths)
    if (const std::string& hash = hash_of(path); !hash.empty()) all += key + " " + hash + "\n";
  return all.empty() ? "" : content_hash(as_bytes(all));
}

const std::string& DataIdentity::hash_of(const std::string& path) {
  const auto [entry, is_new] = hashes_.emplace(path, "");
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  if (!is_new || (!folder && !fs::is_regular_file(path, error))) return entry->second;
  ContentHash hash;
  for (const fs::path& file : folder ? data_files_below(path) : std::vector<fs::path>{path}) {
    if (fs::absolute(file).lexically_normal().string().starts_with(except_)) continue;
    hash.add(as_bytes(file.lexically_relative(path).string() + "\n"));
    add_file(hash, file);
  }
  return entry->second = hash.text();
}

}  // namespace modewise::sweep
