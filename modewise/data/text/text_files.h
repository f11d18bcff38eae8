#pragma once
// Detection of labelled text files.

#include <filesystem>
#include <span>
#include <string>

namespace modewise::data {

/// Whether `path` is a file of JSON lines, a .csv or a .tsv with text and label columns, or with no other
/// columns than usual ones of texts and labels (review and sentiment, say); or a folder with such a training
/// file.
bool holds_labelled_texts(const std::filesystem::path& path);

/// Columns that usually hold texts and labels; "": none.
struct UsualColumns {
  std::string text, label;
};
UsualColumns usual_columns(std::span<const std::string> names);

}  // namespace modewise::data
