#pragma once
// Detection of labelled text files.

#include <filesystem>

namespace modewise::data {

/// Whether `path` is a .jsonl, .csv or .tsv file with text and label columns, or a folder with such a
/// training file.
bool holds_labelled_texts(const std::filesystem::path& path);

}  // namespace modewise::data
