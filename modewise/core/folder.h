#pragma once
// Folders: made and copied durably, listed, and cleared of what writing left when it was cut off.

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace modewise {

/// Makes `path` and the folders above it that are missing, durably. Throws cannot_create.
void make_folders(const std::filesystem::path& path);
/// What a folder holds; nothing when it does not exist. Throws io when it cannot be looked at.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Copies a file, or a folder with all in it, durably but for its name in the folder above. Errors: io, also
/// where `to` is there.
void copy_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// A path whose parts are kept as names, in configs or JSON; data error where it is not UTF-8.
const std::filesystem::path& require_utf8(const std::filesystem::path& path);

/// `path` with an ending .tmp- and 16 random hexadecimal digits: the name of what is not finished.
std::filesystem::path temporary_beside(const std::filesystem::path& path);
/// Removes what writing left in `folder` when it was cut off: temporaries of the names that `ours` knows.
void remove_temporaries(const std::filesystem::path& folder,
                        const std::function<bool(std::string_view name)>& ours);

}  // namespace modewise
