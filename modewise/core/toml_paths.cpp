#include "modewise/core/toml_paths.h"

#include <toml++/toml.h>
#include <sstream>
#include <vector>

#include "modewise/core/error.h"

namespace modewise {
namespace {

void add_paths(const toml::table& table, const std::string& prefix, std::set<std::string>& paths) {
  for (const auto& [key, node] : table) {
    const std::string path = prefix + std::string(key.str());
    if (const toml::table* nested = node.as_table())
      add_paths(*nested, path + ".", paths);
    else
      paths.insert(path);
  }
}

void remove_paths(toml::table& table, const std::string& prefix,
                  const std::function<bool(const std::string& path)>& removed) {
  std::vector<std::string> keys;
  for (auto& [key, node] : table) {
    const std::string path = prefix + std::string(key.str());
    if (toml::table* nested = node.as_table())
      remove_paths(*nested, path + ".", removed);
    else if (removed(path))
      keys.emplace_back(key.str());
  }
  for (const std::string& key : keys) table.erase(key);
}

void set_string(toml::table& table, std::string_view path, const std::string& value) {
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos) {
    table.insert_or_assign(path, value);
    return;
  }
  toml::node& nested = table.insert(path.substr(0, dot), toml::table()).first->second;
  if (toml::table* group = nested.as_table()) set_string(*group, path.substr(dot + 1), value);
}

toml::table parsed(std::string_view text, const std::string& source) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail(ErrorKind::config, "{}:{}:{}: {}", source, error.source().begin.line, error.source().begin.column,
         error.description());
  }
}

}  // namespace

std::set<std::string> toml_paths(std::string_view text, const std::string& source) {
  std::set<std::string> paths;
  add_paths(parsed(text, source), "", paths);
  return paths;
}

std::string toml_with(std::string_view text, const std::string& source,
                      const std::function<bool(const std::string& path)>& removed,
                      const std::map<std::string, std::string>& strings) {
  toml::table root = parsed(text, source);
  remove_paths(root, "", removed);
  for (const auto& [path, value] : strings) set_string(root, path, value);
  std::ostringstream out;
  out << root;
  return out.str();
}

}  // namespace modewise
