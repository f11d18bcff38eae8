#pragma once
// What a file is at first sight.

#include <filesystem>

namespace modewise::data {

/// Whether `path` is a .jsonl, .csv or .tsv whose first line names a text and its label, or a folder whose
/// training file is one.
bool holds_labelled_texts(const std::filesystem::path& path);

}  // namespace modewise::data
