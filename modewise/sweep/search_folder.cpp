// Atomic creation and removal of a search folder, and its change to a run.

#include <string_view>
#include <system_error>

#include "modewise/core/claims.h"
#include "modewise/core/folder.h"
#include "modewise/core/remove_tree.h"
#include "modewise/sweep/search.h"
#include "modewise/sweep/search_files.h"

namespace modewise::sweep {
namespace {

namespace fs = std::filesystem;

// config.toml makes a folder a run and is moved last. manifest.json is moved first: it lists the files of the
// run, which train --overwrite may remove.
constexpr const char *kConfig = "config.toml", *kManifest = "manifest.json";

fs::path chosen_folder(const fs::path& out) {
  return search_folder(out) / "chosen";
}

void remove_whole(const fs::path& path) {
  std::error_code error;
  remove_tree(path, error);
  require(!error, ErrorKind::io, "cannot remove {}: {}", path.string(), error.message());
}

void rename_to(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  require(!error, ErrorKind::io, "cannot rename {} to {}: {}", from.string(), to.string(), error.message());
}

}  // namespace

bool holds_search(const fs::path& out) {
  return fs::exists(request_file(out)) && (!fs::exists(out / kConfig) || fs::exists(chosen_folder(out)));
}

void begin_search(const SearchRequest& request, const fs::path& out) {
  if (fs::exists(request_file(out))) return;
  const std::string text = request.to_json().dump(1) + "\n";
  make_folders(out);
  if (fs::exists(search_folder(out))) return write_file_atomically(request_file(out), text);
  const fs::path staged = temporary_beside(search_folder(out));
  make_folders(staged);
  write_file_synced(staged / request_file(out).filename(), as_bytes(text));
  sync_directory(staged);
  rename_to(staged, search_folder(out));
  sync_directory(out);
}

void remove_search_leftovers(const fs::path& out) {
  const auto any = [](std::string_view) { return true; };
  remove_temporaries(search_folder(out), any);
  for (const fs::path& stage : entries_of(search_folder(out)))
    if (fs::is_directory(stage))
      for (const char* name : {"claims", "done"}) remove_temporaries(stage / name, any);
}

void remove_search(const fs::path& out) {
  if (!fs::exists(request_file(out))) return;
  const fs::path removed = temporary_beside(search_folder(out));
  rename_to(search_folder(out), removed);
  sync_directory(out);
  remove_whole(removed);
}

void become_run(const fs::path& out, const fs::path& chosen) {
  if (fs::exists(out / kConfig)) return;
  require_own_claim();
  const fs::path staged = chosen_folder(out);
  remove_whole(staged);
  make_folders(staged);
  for (const fs::path& entry : entries_of(chosen))
    if (!entry.filename().string().starts_with(".")) copy_durably(entry, staged / entry.filename());
  sync_directory(staged);
  const auto place = [&](const fs::path& name) {
    remove_whole(out / name);  // of an interrupted start
    rename_to(staged / name, out / name);
    sync_directory(out);
  };
  if (fs::exists(staged / kManifest)) place(kManifest);
  for (const fs::path& entry : entries_of(staged))
    if (entry.filename() != kConfig) place(entry.filename());
  rename_to(staged / kConfig, out / kConfig);
  sync_directory(out);
}

void end_search(const fs::path& out) {
  remove_whole(chosen_folder(out));
}

}  // namespace modewise::sweep
