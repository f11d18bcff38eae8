#include "modewise/core/toml_paths.h"

#include <toml++/toml.h>

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

}  // namespace

std::set<std::string> toml_paths(std::string_view text, const std::string& source) {
  std::set<std::string> paths;
  try {
    add_paths(toml::parse(text), "", paths);
  } catch (const toml::parse_error& error) {
    fail(ErrorKind::config, "{}:{}:{}: {}", source, error.source().begin.line, error.source().begin.column,
         error.description());
  }
  return paths;
}

}  // namespace modewise
