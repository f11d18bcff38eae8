#pragma once
// Reader of the TOML files of sweeps; its errors have file, line and column. Internal: toml++ is slow to
// compile.

#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/nearest_name.h"
#include "modewise/sweep/sweep_plan.h"

namespace modewise::sweep {

class TomlReader {
 public:
  TomlReader(std::string path, const std::string& text) : path_(std::move(path)) {
    try {
      root_ = toml::parse(text);
    } catch (const toml::parse_error& error) {
      fail(ErrorKind::config, "{}: {}", place(error.source()), error.description());
    }
  }

  const toml::table& root() const { return root_; }
  toml::table& root() { return root_; }

  void only_keys(const toml::table& table, const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      require(std::find(known.begin(), known.end(), name) != known.end(), ErrorKind::config,
              "{}: unknown key '{}'{}", place(key.source()), name, nearest_name_hint(name, known));
    }
  }

  template <class T>
  T value(const toml::table& table, const char* key, T otherwise, const char* wanted) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return otherwise;
    const auto found = node->value<T>();
    require(found.has_value(), ErrorKind::config, "{}: {} must be {}", place(node->source()), key, wanted);
    return *found;
  }
  std::string text(const toml::table& table, const char* key, const std::string& otherwise = "") const {
    return value<std::string>(table, key, otherwise, "a string");
  }

  /// A string, or a list of strings.
  std::vector<std::string> strings(const toml::table& table, const char* key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return {};
    if (const auto one = node->value<std::string>()) return {*one};
    std::vector<std::string> out;
    if (const toml::array* list = node->as_array())
      for (const toml::node& one : *list)
        if (const auto text = one.value<std::string>()) out.push_back(*text);
    require(!out.empty() && out.size() == node->as_array()->size(), ErrorKind::config,
            "{}: {} must be a string or a list of strings", place(node->source()), key);
    return out;
  }

  /// A value in the syntax of --set, with numbers in their shortest form.
  std::string assigned(const toml::node& node) const {
    if (const auto string = node.value_exact<std::string>()) return *string;
    require(node.is_value() || node.is_array(), ErrorKind::config, "{}: a setting must be a value or a list",
            place(node.source()));
    return text_of(node);
  }

  /// Nested tables as "a.b=value".
  void add_settings(const toml::table& table, const std::string& prefix,
                    std::vector<std::string>& out) const {
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      if (const toml::table* nested = node.as_table())
        add_settings(*nested, name + ".", out);
      else
        out.push_back(name + "=" + assigned(node));
    }
  }
  std::vector<std::string> settings(const toml::table& table, const char* key) const {
    std::vector<std::string> out;
    const toml::node* node = table.get(key);
    if (node == nullptr) return out;
    require(node->is_table(), ErrorKind::config, "{}: {} must be a table of settings", place(node->source()),
            key);
    add_settings(*node->as_table(), "", out);
    return out;
  }

  std::vector<int64_t> integers(const char* key, std::vector<int64_t> otherwise) const {
    const toml::node* node = root_.get(key);
    if (node == nullptr) return otherwise;
    const toml::array* array = node->as_array();
    require(array != nullptr && !array->empty(), ErrorKind::config, "{}: {} must be a list of integers",
            place(node->source()), key);
    std::vector<int64_t> out;
    for (const toml::node& one : *array) {
      const auto number = one.value_exact<int64_t>();
      require(number && *number >= 0, ErrorKind::config, "{}: {} must be a list of integers of at least 0",
              place(one.source()), key);
      out.push_back(*number);
    }
    return out;
  }

  /// The tables of [[key]].
  std::vector<const toml::table*> tables(const char* key) const {
    std::vector<const toml::table*> out;
    const toml::node* node = root_.get(key);
    if (node == nullptr) return out;
    const toml::array* array = node->as_array();
    require(array != nullptr && array->is_homogeneous(toml::node_type::table), ErrorKind::config,
            "{}: {} must be written [[{}]]", place(node->source()), key, key);
    for (const toml::node& one : *array) out.push_back(one.as_table());
    return out;
  }

  std::string place(const toml::source_region& source) const {
    return fmt::format("{}:{}:{}", path_, source.begin.line, source.begin.column);
  }

 private:
  static std::string text_of(const toml::node& node) {
    if (const toml::array* list = node.as_array(); list != nullptr && !list->empty()) {
      std::vector<std::string> parts;
      for (const toml::node& one : *list) parts.push_back(text_of(one));
      return fmt::format("[ {} ]", fmt::join(parts, ", "));
    }
    if (const auto number = node.value_exact<double>(); number && *number != std::round(*number))
      return fmt::format("{}", *number);  // toml++ writes 0.1 as 0.10000000000000001
    std::ostringstream out;
    node.visit([&](const auto& one) { out << toml::default_formatter{one}; });
    return out.str();
  }

  std::string path_;
  toml::table root_;
};

/// The plan of a parsed file; errors as read_sweep_plan.
SweepPlan plan_of(const TomlReader& reader, const std::string& path, const std::vector<SweepTask>& tasks,
                  const SweepOverrides& overrides);

}  // namespace modewise::sweep
