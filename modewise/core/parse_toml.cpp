#include "modewise/core/parse_toml.h"

#include <new>

#include "modewise/core/error.h"

namespace modewise {

toml::table parse_toml(std::string_view text, const std::string& source) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    // toml++ reports every exception at its input as a mistake of the text.
    if (error.description() == std::bad_alloc().what()) throw std::bad_alloc();
    const toml::source_position at = error.source().begin;
    fail(ErrorKind::config, "{}:{}:{}: {}", source, at.line, at.column, error.description());
  }
}

}  // namespace modewise
