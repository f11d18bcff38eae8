#pragma once
// Folders: durable creation and copies, listing, and removal of temporaries that an interrupted write left.

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace modewise {

/// Creates `path` and its missing parent folders, durably. Throws cannot_create.
void make_folders(const std::filesystem::path& path);
/// The entries of a folder; empty if it does not exist. Throws io if it cannot be listed.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Copies a file, or a folder with all its content, durably except for its entry in the parent folder.
/// Errors: io, also if `to` exists.
void copy_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Makes a folder appear at once with all its files, durably: `write` gets a temporary folder, which is
/// renamed. A folder that is not empty gets the files one by one. Removes temporary folders that interrupted
/// calls left.
void write_folder_atomically(const std::filesystem::path& folder,
                             const std::function<void(const std::filesystem::path&)>& write);

/// Checks a path that is written to configs or JSON; data error if it is not UTF-8.
const std::filesystem::path& require_utf8(const std::filesystem::path& path);

/// `path` with the suffix .tmp- and 16 random hexadecimal digits: the name of an unfinished file or folder.
std::filesystem::path temporary_beside(const std::filesystem::path& path);
/// Removes temporaries that an interrupted write left in `folder`, for the names that `ours` accepts. The
/// caller has locked the folder.
void remove_temporaries(const std::filesystem::path& folder,
                        const std::function<bool(std::string_view name)>& ours);
/// The same in a folder that is not locked: files that a process has open stay, as do folders. Errors are
/// ignored.
void remove_stale_temporaries(const std::filesystem::path& folder,
                              const std::function<bool(std::string_view name)>& ours);

}  // namespace modewise
