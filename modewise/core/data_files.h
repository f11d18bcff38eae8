#pragma once
// Files of a folder of data: listing without the files that systems and archivers leave, and file extensions.

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace modewise {

/// Whether an entry of a folder is no data: its name begins with a dot (._x and .DS_Store of macOS), or is
/// __MACOSX, Thumbs.db or desktop.ini (case-insensitive).
bool is_system_file(const std::filesystem::path& entry);

/// The entries of a folder without system files, runs and the folder `runs` of them, in byte order; empty if
/// it does not exist. Throws io if it cannot be listed.
std::vector<std::filesystem::path> data_entries(const std::filesystem::path& folder);

/// Visits files and folders below `folder` as data_entries() lists them and what they contain, each folder
/// before its entries, in byte order, until `stop` returns true. Links are followed, except to a folder that
/// contains them. Returns whether `stop` did. Throws io if a folder cannot be listed.
bool visit_data_entries(const std::filesystem::path& folder,
                        const std::function<bool(const std::filesystem::path&)>& stop);

/// The regular files that visit_data_entries() visits.
std::vector<std::filesystem::path> data_files_below(const std::filesystem::path& folder);

/// Whether `name`, as a data file gives it, is a regular file in `folder`. A text that no file can have as
/// its name (too long, or with a NUL) is none. Throws filesystem_error if the folder cannot be searched.
bool holds_file(const std::filesystem::path& folder, std::string_view name);

/// The extension of a path in lower case: ".tif" for "A.TIF"; "" if there is none.
std::string lower_extension(const std::filesystem::path& path);

/// The first of `endings` (in lower case) with which `name` ends, case-insensitive; "" if there is none.
std::string_view ending_of(std::string_view name, std::initializer_list<std::string_view> endings);

}  // namespace modewise
