#pragma once
// Hugging Face tokenizer_config.json and special_tokens_map.json: begin, end and added tokens of a
// tokenizer.

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "modewise/io/json_scanner.h"
#include "modewise/io/tokenizers/added_token.h"

namespace modewise::io {

struct TokenizerSettings {
  std::optional<bool> add_begin;          // add_bos_token: the begin token is put before a text
  std::optional<std::string> begin, end;  // bos_token and eos_token
  std::set<std::string> special;          // all named special tokens
  std::optional<TokensBeside> added;      // added_tokens_decoder
  bool legacy = false;                    // Llama: a space is prepended after every added token, too
  std::optional<std::string> class_name;  // tokenizer_class
  // do_lower_case, strip_accents and tokenize_chinese_chars of BERT's classes, add_prefix_space of byte-level
  // BPE
  std::optional<bool> lower_case, strip_accents, space_chinese, prefix_space;
  std::optional<bool> truncates_begin;  // truncation_side is "left"
  int64_t max_length = 0;               // model_max_length; 0: none, or a number beyond any text
};

/// Reads one of the two files over `settings`; null and other members are ignored. Throws data errors that
/// name `source`, offset and rule.
void read_tokenizer_settings(std::string_view json, const std::string& source, TokenizerSettings& settings);

/// The name of a token, "<s>" or {"content": "<s>", …}; nullopt for null.
std::optional<std::string> read_token_name(JsonScanner& json);

}  // namespace modewise::io
