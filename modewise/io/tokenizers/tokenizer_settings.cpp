#include "modewise/io/tokenizers/tokenizer_settings.h"

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"

namespace modewise::io {

std::optional<std::string> read_token_name(JsonScanner& json) {
  if (json.take_null()) return std::nullopt;
  if (!json.take('{')) return json.decode(json.string());
  json.go_to(json.position() - 1);
  std::optional<std::string> name;
  json.object("at the start of a token", [&](const std::string& key) {
    if (key == "content")
      name = json.decode(json.string());
    else
      json.skip();
  });
  return name;
}

void read_tokenizer_settings(std::string_view text, const std::string& source, TokenizerSettings& settings) {
  const size_t invalid = find_invalid_utf8(text);
  require(invalid == std::string_view::npos, ErrorKind::data, "{}: not UTF-8 at byte {}", source, invalid);
  JsonScanner json(text, source, "file");
  json.object("at the start", [&](const std::string& key) {
    if (key == "add_bos_token") {
      if (!json.take_null()) settings.add_begin = json.boolean();
    } else if (key == "bos_token" || key == "eos_token") {
      std::optional<std::string> name = read_token_name(json);
      if (name) (key == "bos_token" ? settings.begin : settings.end) = std::move(name);
    } else {
      json.skip();
    }
  });
  json.expect_end();
}

}  // namespace modewise::io
