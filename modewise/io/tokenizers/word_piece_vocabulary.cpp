#include "modewise/io/tokenizers/word_piece_vocabulary.h"

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/io/json_scanner.h"
#include "modewise/io/text_input.h"
#include "modewise/io/tokenizers/tokenizer_settings.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

// Null keeps the default.
void mark_name(JsonScanner& json, std::string& name) {
  name = read_token_name(json).value_or(name);
}

TokenTable token_lines(std::string_view text, const std::string& source) {
  TokenTable out(text.size());
  for (int32_t line = 0; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    std::string_view token = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (token.ends_with('\r')) token.remove_suffix(1);
    require(!token.empty(), ErrorKind::data, "{}, line {}: expected a token, got an empty line", source,
            line + 1);
    require(line < TokenTable::kMaxTokens, ErrorKind::data, "{}: more than {} tokens", source,
            TokenTable::kMaxTokens);
    if (const std::optional<int32_t> earlier = out.find(token))
      fail(ErrorKind::data, "{}, line {}: the token {} is a duplicate of line {}", source, line + 1,
           quote_for_message(token), *earlier + 1);
    out.add(line, token);
  }
  return out;
}

}  // namespace

BertTokenizerConfig parse_bert_tokenizer_config(std::string_view text, const std::string& source) {
  const size_t invalid = find_invalid_utf8(text);
  require(invalid == std::string_view::npos, ErrorKind::data, "{}: not UTF-8 at byte {}", source, invalid);
  JsonScanner json(text, source, "tokenizer_config.json");
  BertTokenizerConfig out;
  std::optional<bool> strip;
  json.object("at the start", [&](const std::string& key) {
    if (key == "do_lower_case") {
      out.normalizing.lower_case = json.boolean();
    } else if (key == "tokenize_chinese_chars") {
      out.normalizing.space_chinese = json.boolean();
    } else if (key == "strip_accents") {
      if (!json.take_null()) strip = json.boolean();
    } else if (key == "do_basic_tokenize") {
      const size_t at = json.position();
      if (!json.boolean()) json.wrong_at(at, "do_basic_tokenize is false, which is not supported");
    } else if (key == "unk_token") {
      mark_name(json, out.unknown);
    } else if (key == "cls_token") {
      mark_name(json, out.opening);
    } else if (key == "sep_token") {
      mark_name(json, out.closing);
    } else if (key == "pad_token") {
      mark_name(json, out.padding);
    } else if (key == "mask_token") {
      mark_name(json, out.mask);
    } else {
      json.skip();
    }
  });
  json.expect_end();
  out.normalizing.strip_accents = strip.value_or(out.normalizing.lower_case);
  return out;
}

TokenizerJson parse_word_piece_vocabulary(std::span<const std::byte> bytes, const std::string& source,
                                          const BertTokenizerConfig& config) {
  TokenizerJson out;
  out.vocabulary = token_lines(TextInput(bytes, source).text(), source);
  out.size = out.vocabulary.size();
  const std::optional<int32_t> unknown = out.vocabulary.find(config.unknown);
  require(unknown.has_value(), ErrorKind::data,
          "{}: none of the {} tokens is {}, the token for unknown words", source, out.size,
          quote_for_message(config.unknown));
  out.word_piece = {.unknown = *unknown, .normalizing = config.normalizing};
  for (const std::string* name :
       {&config.unknown, &config.opening, &config.closing, &config.padding, &config.mask}) {
    const std::optional<int32_t> id = out.vocabulary.find(*name);
    const auto known = [&](const TokenizerJson::AddedToken& token) { return token.id == *id; };
    if (!id || std::any_of(out.added.begin(), out.added.end(), known)) continue;
    out.added.push_back({.id = *id, .content = *name, .special = true});
  }
  out.begin = out.vocabulary.find(config.opening);
  out.end = out.vocabulary.find(config.closing);
  if (out.begin && out.end) out.around = bert_template(*out.begin, *out.end);
  return out;
}

}  // namespace modewise::io
