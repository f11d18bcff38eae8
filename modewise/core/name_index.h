#pragma once
// Hash index of the names in a list: a linear search for each of many names is quadratic.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace modewise {

class NameIndex {
 public:
  NameIndex() = default;
  explicit NameIndex(const std::vector<std::string>& names) {
    positions_.reserve(names.size());
    for (size_t i = 0; i < names.size(); ++i) positions_.try_emplace(names[i], i);
  }

  /// Position of `name`, the first of equal ones; nullopt if absent.
  std::optional<size_t> find(std::string_view name) const {
    const auto found = positions_.find(name);
    return found == positions_.end() ? std::nullopt : std::optional(found->second);
  }
  bool contains(std::string_view name) const { return positions_.contains(name); }

  /// Gives a new name the next position. Returns the position, and whether the name was new.
  std::pair<size_t, bool> add(std::string_view name) {
    const auto found = positions_.find(name);
    if (found != positions_.end()) return {found->second, false};
    const size_t next = positions_.size();
    positions_.emplace(name, next);
    return {next, true};
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> positions_;
};

}  // namespace modewise
