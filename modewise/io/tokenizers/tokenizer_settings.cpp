#include "modewise/io/tokenizers/tokenizer_settings.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

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

namespace {

constexpr std::array<std::string_view, 7> kNamed = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                    "pad_token", "cls_token", "mask_token"};

// transformers writes 10^30 for "no limit".
constexpr double kLongestText = 1e9;

bool is_one_of(std::span<const std::string_view> names, const std::string& key) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

/// Reads a named special token.
void read_named(JsonScanner& json, const std::string& key, TokenizerSettings& settings) {
  std::optional<std::string> name = read_token_name(json);
  if (!name) return;
  settings.special.insert(*name);
  if (key == "bos_token") settings.begin = std::move(name);
  if (key == "eos_token") settings.end = std::move(name);
}

/// Reads a list or an object of further special tokens.
void read_further_special(JsonScanner& json, TokenizerSettings& settings) {
  const auto read = [&] {
    if (const std::optional<std::string> name = read_token_name(json)) settings.special.insert(*name);
  };
  const size_t at = json.position();
  const bool list = json.take('[');
  json.go_to(at);
  if (list)
    json.array("at the start of special tokens", read);
  else if (!json.take_null())
    json.object("at the start of special tokens", [&](const std::string&) { read(); });
}

}  // namespace

void read_tokenizer_settings(std::string_view text, const std::string& source, TokenizerSettings& settings) {
  const size_t invalid = find_invalid_utf8(text);
  require(invalid == std::string_view::npos, ErrorKind::data, "{}: not UTF-8 at byte {}", source, invalid);
  JsonScanner json(text, source, "file");
  const std::map<std::string, std::optional<bool>*> switches = {
      {"add_bos_token", &settings.add_begin},       {"do_lower_case", &settings.lower_case},
      {"strip_accents", &settings.strip_accents},   {"tokenize_chinese_chars", &settings.space_chinese},
      {"add_prefix_space", &settings.prefix_space},
  };
  json.object("at the start", [&](const std::string& key) {
    if (const auto found = switches.find(key); found != switches.end()) {
      if (!json.take_null()) *found->second = json.boolean();
    } else if (key == "legacy") {
      if (!json.take_null()) settings.legacy = json.boolean();
    } else if (key == "truncation_side") {
      if (!json.take_null()) settings.truncates_begin = json.decode(json.string()) == "left";
    } else if (key == "model_max_length") {
      const double length = json.take_null() ? 0 : json.number();
      settings.max_length = length >= 1 && length <= kLongestText ? static_cast<int64_t>(length) : 0;
    } else if (key == "tokenizer_class") {
      if (!json.take_null()) settings.class_name = json.decode(json.string());
    } else if (key == "added_tokens_decoder") {
      if (!json.take_null()) settings.added = {read_added_tokens_decoder(json), source, true};
    } else if (key == "additional_special_tokens" || key == "extra_special_tokens") {
      read_further_special(json, settings);
    } else if (is_one_of(kNamed, key)) {
      read_named(json, key, settings);
    } else {
      json.skip();
    }
  });
  json.expect_end();
}

}  // namespace modewise::io
