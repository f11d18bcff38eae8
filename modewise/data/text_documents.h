#pragma once
// Documents of text: files of a folder, lines of a .jsonl file, or the parts of a file between separators.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "modewise/data/document_config.h"

namespace modewise::data {

/// Calls `each` for every document of `path` in order (files of a folder by their names, those of its folders
/// too; hidden files left out). `separator` is config's unless the file is a .jsonl. A document's text is
/// valid during its call. Documents without any text are left out; `notes` get a sentence about them.
///
/// Errors: no_input when there is no such file; data with file and line for a .jsonl line that is no object
/// or lacks the field; data when there is no document at all.
void for_each_document(const DocumentConfig& config, const std::string& path,
                       const std::function<void(std::string_view text)>& each,
                       std::vector<std::string>& notes);

/// The parts of a text: between lines that are exactly <|endoftext|>, or between blank lines (those with
/// nothing but spaces, tabs and carriage returns).
std::vector<std::string_view> split_documents(std::string_view text, const std::string& separator);

/// Whether `path` is a .txt whose beginning is mostly letters.
bool holds_prose(const std::filesystem::path& path);

}  // namespace modewise::data
