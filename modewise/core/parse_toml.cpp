#include "modewise/core/parse_toml.h"

#include "modewise/core/error.h"

namespace modewise {

toml::table parse_toml(std::string_view text, const std::string& source) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    fail(ErrorKind::config, "{}:{}:{}: {}", source, at.line, at.column, error.description());
  }
}

}  // namespace modewise
