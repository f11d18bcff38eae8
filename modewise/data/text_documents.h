#pragma once
// Text documents: files of a folder, lines of a .jsonl file, or parts of a file between separators. Other
// files than texts are refused (document_text.h).

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/data/document_config.h"

namespace modewise::data {

/// Calls `each` for every document of `path` in order (files of a folder and its subfolders sorted by name;
/// hidden files are skipped). config.separator applies unless the file has JSON lines. `text` is valid during
/// the call. Empty documents are skipped, with a sentence in `notes`.
///
/// Errors: no_input if `path` does not exist; data with file and line for a JSON line that is not an object
/// or has no text in its field; data for a file that is not a text, or if there is no document.
void for_each_document(const DocumentConfig& config, const std::string& path,
                       const std::function<void(std::string_view text)>& each,
                       std::vector<std::string>& notes);

/// Splits a text at lines that are exactly <|endoftext|>, or at blank lines (only spaces, tabs and carriage
/// returns).
std::vector<std::string_view> split_documents(std::string_view text, const std::string& separator);

/// Whether `path` is a .txt file that begins with mostly letters.
bool holds_prose(const std::filesystem::path& path);

}  // namespace modewise::data
