#include "modewise/core/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <system_error>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/core/remove_tree.h"
#include "modewise/core/system_call.h"
#include "modewise/core/utf8.h"

namespace modewise {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTemporaryMark = ".tmp-";
constexpr size_t kTemporaryDigits = 16, kLongestName = 255;

void copy_file_durably(const fs::path& from, const fs::path& to) {
  const int source = open_file(from.c_str(), O_RDONLY | O_CLOEXEC);
  require_call(source >= 0, ErrorKind::io, "cannot open", from.native());
  try {
    OutputFile copy(to, Appears::at_once);
    std::vector<std::byte> buffer(size_t{1} << 20);
    while (true) {
      const ssize_t n = ::read(source, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      require_call(n >= 0, ErrorKind::io, "cannot read", from.native());
      if (n == 0) break;
      copy.write(std::span(buffer).first(static_cast<size_t>(n)));
    }
    copy.finish();
  } catch (...) {
    ::close(source);
    throw;
  }
  ::close(source);
}

/// Whether a process has the file open: then the system grants no lease.
bool is_open_somewhere(const fs::path& file) {
  const int descriptor = open_file(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return true;
  const bool leased = ::fcntl(descriptor, F_SETLEASE, F_WRLCK) == 0;
  if (leased) ::fcntl(descriptor, F_SETLEASE, F_UNLCK);
  ::close(descriptor);
  return !leased;
}

/// The name without the suffix of a temporary; empty if it has none.
std::string_view name_of_temporary(std::string_view name) {
  const size_t ending = kTemporaryMark.size() + kTemporaryDigits;
  if (name.size() <= ending) return {};
  const std::string_view stem = name.substr(0, name.size() - ending),
                         digits = name.substr(name.size() - kTemporaryDigits);
  const bool hexadecimal = digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return hexadecimal && name.substr(stem.size()).starts_with(kTemporaryMark) ? stem : std::string_view();
}

}  // namespace

void make_folders(const fs::path& path) {
  std::error_code error;
  std::vector<fs::path> missing;
  for (fs::path at = path; !at.empty() && !fs::exists(at, error); at = at.parent_path())
    missing.push_back(at);
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    const bool made = fs::create_directory(*at, error);
    require(!error, ErrorKind::cannot_create, "cannot create {}: {}", at->string(), error.message());
    if (made) sync_directory(at->parent_path());
  }
  const bool is_folder = fs::is_directory(path, error);  // before the arguments of require, which read error
  require(is_folder, ErrorKind::cannot_create, "cannot create the folder {}: {}", path.string(),
          error ? error.message() : "a file has that name");
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  while (error == std::errc::interrupted) it = fs::directory_iterator(folder, error);
  if (error == std::errc::no_such_file_or_directory) return entries;
  for (; !error && it != fs::directory_iterator(); it.increment(error)) entries.push_back(it->path());
  require(!error, ErrorKind::io, "cannot list folder {}: {}", folder.string(), error.message());
  return entries;
}

void copy_durably(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const auto check = [&] {
    require(!error, ErrorKind::io, "cannot copy {} to {}: {}", from.string(), to.string(), error.message());
  };
  if (!fs::is_directory(from, error)) return copy_file_durably(from, to);
  fs::create_directory(to, error);
  check();
  for (const fs::path& entry : entries_of(from)) copy_durably(entry, to / entry.filename());
  sync_directory(to);
}

void write_folder_atomically(const fs::path& given, const std::function<void(const fs::path&)>& write) {
  const fs::path folder = given.has_filename() ? given : given.parent_path();
  if (fs::exists(folder) && !fs::is_empty(folder)) return write(folder);
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : ".";
  make_folders(parent);
  remove_temporaries(parent, [&](std::string_view name) { return name == folder.filename().native(); });
  const fs::path temporary = temporary_beside(folder);
  std::error_code error;
  try {
    make_folders(temporary);
    write(temporary);
    sync_directory(temporary);
    fs::rename(temporary, folder, error);
    require(!error, ErrorKind::io, "cannot rename {} to {}: {}", temporary.string(), folder.string(),
            error.message());
  } catch (...) {
    remove_tree(temporary, error);
    throw;
  }
  sync_directory(parent);
}

const fs::path& require_utf8(const fs::path& path) {
  require(find_invalid_utf8(path.native()) == std::string::npos, ErrorKind::data,
          "the name {} is not UTF-8, the encoding of configs and results: rename it",
          quote_for_message(path.native(), 4096));
  return path;
}

fs::path temporary_beside(const fs::path& path) {
  std::random_device device;
  const std::string name = path.filename().string(),
                    suffix = fmt::format("{}{:08x}{:08x}", kTemporaryMark, device(), device());
  return path.parent_path() / (name.substr(0, kLongestName - suffix.size()) + suffix);
}

void remove_temporaries(const fs::path& folder, const std::function<bool(std::string_view)>& ours) {
  for (const fs::path& path : entries_of(folder)) {
    const std::string file = path.filename().string();
    const std::string_view name = name_of_temporary(file);
    if (name.empty() || !ours(name)) continue;
    std::error_code error;
    remove_tree(path, error);
    require(!error, ErrorKind::io, "cannot remove {}: {}", path.string(), error.message());
  }
}

void remove_stale_temporaries(const fs::path& folder, const std::function<bool(std::string_view)>& ours) {
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string file = it->path().filename().string();
    const std::string_view name = name_of_temporary(file);
    std::error_code ignored;
    if (!name.empty() && ours(name) && it->is_regular_file(ignored) && !is_open_somewhere(it->path()))
      fs::remove(it->path(), ignored);
  }
}

}  // namespace modewise
