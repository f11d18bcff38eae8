#include "modewise/data/file_matcher.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "modewise/core/counted.h"
#include "modewise/core/data_files.h"
#include "modewise/text/canonical_form.h"

namespace modewise::data {
namespace {

/// The name with / as separator, without spaces around it and a leading "./", in its canonical form: macOS
/// writes é as e with an accent.
std::string plain_path(std::string name) {
  std::replace(name.begin(), name.end(), '\\', '/');
  const size_t first = name.find_first_not_of(" \t\r"), last = name.find_last_not_of(" \t\r");
  if (first == std::string::npos) return {};
  name = name.substr(first, last - first + 1);
  while (name.starts_with("./")) name.erase(0, 2);
  return text::canonical_form(name);
}

/// Calls `each` with the path and what follows each of its separators.
template <class Each>
void for_each_end(std::string_view path, const Each& each) {
  for (size_t from = 0; from != std::string_view::npos;) {
    each(path.substr(from));
    const size_t slash = path.find('/', from);
    from = slash == std::string_view::npos ? slash : slash + 1;
  }
}

/// A whole number without leading zeros; "" for other texts.
std::string number_text(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return std::string(text.substr(std::min(text.find_first_not_of('0'), text.size() - 1)));
}

}  // namespace

FileMatcher::FileMatcher(const std::vector<std::string>& files,
                         std::string (*without_ending)(const std::string&))
    : without_ending_(without_ending) {
  const auto add = [](Index& index, std::string_view name, size_t file) {
    std::vector<size_t>& found = index[std::string(name)];
    if (found.empty() || found.back() != file) found.push_back(file);
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string path = text::canonical_form(files[i]);
    const std::string stem = without_ending(path);
    for (const std::string& name : {path, stem}) {
      add(paths_, name, i);
      for_each_end(name, [&](std::string_view end) { add(ends_, end, i); });
    }
    for (size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = path.rfind('/', slash - 1))
      for_each_end(std::string_view(path).substr(0, slash),
                   [&](std::string_view end) { add(folders_, end, i); });
    const std::string number = number_text(std::string_view(stem).substr(stem.rfind('/') + 1));
    if (!number.empty()) add(numbers_, number, i);
  }
}

const std::vector<size_t>* FileMatcher::at(const Index& index, std::string_view name) {
  const auto found = index.find(name);
  return found == index.end() ? nullptr : &found->second;
}

std::vector<size_t> FileMatcher::find(const std::string& written) const {
  const std::string name = plain_path(written), stem = without_ending_(name);
  if (name.empty()) return {};
  for (const Index* index : {&paths_, &ends_})
    for (const std::string& one : {name, stem})
      if (const auto* files = at(*index, one)) return *files;
  const std::vector<size_t>* within = nullptr;
  for_each_end(stem, [&](std::string_view end) {
    if (within == nullptr) within = at(paths_, end);
  });
  if (within != nullptr) return *within;
  if (const auto* files = at(folders_, name)) return *files;
  if (const auto* files = at(numbers_, number_text(name))) return *files;
  return {};
}

std::string without_image_ending(const std::string& file) {
  return file.substr(0, file.size() - ending_of(file, {".png", ".jpg", ".jpeg", ".jpe", ".jfif"}).size());
}

std::string with_examples(std::string_view noun, const std::string& rest,
                          const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  const auto shown = std::span(names).first(std::min(names.size(), kShown));
  return fmt::format("{}{}: {}{}", counted(names.size(), noun), rest, fmt::join(shown, ", "),
                     names.size() > kShown ? ", …" : "");
}

}  // namespace modewise::data
