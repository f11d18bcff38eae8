#include "modewise/core/data_files.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "modewise/core/folder.h"

namespace modewise {
namespace fs = std::filesystem;
namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

std::string lower_text(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), lower);
  return text;
}

bool holds(const fs::path& folder, const char* file) {
  std::error_code error;
  return fs::is_regular_file(folder / file, error);
}

/// Whether a folder is a run, or the search of one.
bool is_run(const fs::path& folder) {
  return (holds(folder, "config.toml") && holds(folder, "manifest.json")) ||
         holds(folder, "auto/request.json");
}

/// Whether an entry is a run or the folder in which the program puts runs.
bool has_runs(const fs::path& entry) {
  std::error_code error;
  if (!fs::is_directory(entry, error)) return false;
  if (is_run(entry)) return true;
  if (entry.filename() != "runs") return false;
  const std::vector<fs::path> entries = entries_of(entry);
  return std::any_of(entries.begin(), entries.end(), is_run);
}

/// `around`: the real paths of `folder` and of the folders above it that are visited.
bool visit(const fs::path& folder, const std::function<bool(const fs::path&)>& stop,
           std::vector<fs::path>& around) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (std::find(around.begin(), around.end(), real) != around.end()) return false;
  around.push_back(real);
  for (const fs::path& entry : data_entries(folder))
    if (stop(entry) || (fs::is_directory(entry, error) && visit(entry, stop, around))) return true;
  around.pop_back();
  return false;
}

}  // namespace

bool is_system_file(const fs::path& entry) {
  const std::string name = lower_text(entry.filename().string());
  return name.starts_with('.') || name == "__macosx" || name == "thumbs.db" || name == "desktop.ini";
}

std::vector<fs::path> data_entries(const fs::path& folder) {
  std::vector<fs::path> entries = entries_of(folder);
  std::erase_if(entries, [](const fs::path& entry) { return is_system_file(entry) || has_runs(entry); });
  std::sort(entries.begin(), entries.end(),
            [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  return entries;
}

bool visit_data_entries(const fs::path& folder, const std::function<bool(const fs::path&)>& stop) {
  std::vector<fs::path> around;
  return visit(folder, stop, around);
}

std::vector<fs::path> data_files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  visit_data_entries(folder, [&](const fs::path& entry) {
    std::error_code error;
    if (fs::is_regular_file(entry, error)) files.push_back(entry);
    return false;
  });
  return files;
}

bool holds_file(const fs::path& folder, std::string_view name) {
  if (name.find('\0') != std::string_view::npos) return false;
  std::error_code error;
  const bool holds = fs::is_regular_file(folder / name, error);
  if (holds || error == std::errc::filename_too_long) return holds;
  return fs::is_regular_file(folder / name);
}

std::string lower_extension(const fs::path& path) {
  return lower_text(path.extension().string());
}

std::string_view ending_of(std::string_view name, std::initializer_list<std::string_view> endings) {
  for (const std::string_view ending : endings)
    if (name.size() >= ending.size() &&
        std::equal(ending.begin(), ending.end(), name.end() - static_cast<std::ptrdiff_t>(ending.size()),
                   [](char a, char b) { return a == lower(b); }))
      return ending;
  return {};
}

}  // namespace modewise
