#pragma once
// Files of a search folder.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "modewise/core/error.h"
#include "modewise/sweep/json_file.h"
#include "modewise/sweep/search.h"

namespace modewise::sweep {

inline std::filesystem::path search_folder(const std::filesystem::path& out) {
  return out / "auto";
}

inline std::filesystem::path request_file(const std::filesystem::path& out) {
  return search_folder(out) / "request.json";
}

/// Makes `out` the folder of a search, atomically; no effect if it is one.
void begin_search(const SearchRequest& request, const std::filesystem::path& out);

/// Removes temporaries of interrupted writes from the folder of a search.
void remove_search_leftovers(const std::filesystem::path& out);

/// A member of a JSON object that the search wrote; data error that begins with `source` if it is missing.
template <class T>
T member(const auto& json, const char* name, const std::string& source) {
  try {
    return json.at(name).template get<T>();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::data, "{}: \"{}\" is missing or has the wrong type", source, name);
  }
}

}  // namespace modewise::sweep
