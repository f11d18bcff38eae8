#pragma once
// Matches the names that label lists give to files with the files of a folder.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace modewise::data {

/// Names are compared with and without the file extension, with / or \ as separator, in their Unicode
/// normalization.
class FileMatcher {
 public:
  /// `files`: paths relative to the folder, with /. `without_ending` removes the extensions of such files.
  FileMatcher(const std::vector<std::string>& files, std::string (*without_ending)(const std::string&));

  /// Indices of the files that `name` means, by the first rule that gives any: the path relative to the
  /// folder; the end of such a path, such as a file name; a longer path that ends in one; the name of a
  /// folder above the file; a whole number that lost its leading zeros. More than one: the name is ambiguous.
  std::vector<size_t> find(const std::string& name) const;

 private:
  using Index = std::map<std::string, std::vector<size_t>, std::less<>>;
  static const std::vector<size_t>* at(const Index& index, std::string_view name);

  std::string (*without_ending_)(const std::string&);
  Index paths_, ends_, folders_, numbers_;
};

/// The name of an image file without its extension.
std::string without_image_ending(const std::string& file);

/// "2 rows of labels.csv without a file: a, b" for `noun` row, or "… a, b, c, …": a count and the first
/// three.
std::string with_examples(std::string_view noun, const std::string& rest,
                          const std::vector<std::string>& names);

}  // namespace modewise::data
