#include "modewise/io/tokenizers/added_token.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "modewise/core/error.h"
#include "modewise/io/utf8.h"

namespace modewise::io {
namespace {

int32_t checked_id(JsonScanner& json, size_t at, std::string_view what, int64_t id) {
  if (id < 0 || id >= TokenTable::kMaxTokens)
    json.wrong_at(at, fmt::format("{} is {}; expected 0 to {}", what, id, TokenTable::kMaxTokens - 1));
  return static_cast<int32_t>(id);
}

int32_t id_of_key(JsonScanner& json, const std::string& key) {
  int64_t id = -1;
  const char* end = key.data() + key.size();
  if (const auto [rest, error] = std::from_chars(key.data(), end, id); error != std::errc() || rest != end)
    json.wrong(fmt::format("added_tokens_decoder has the key {}; expected an id", quote_for_message(key)));
  return checked_id(json, json.position(), "the id of an added token", id);
}

void add(JsonScanner& json, std::vector<AddedToken>& tokens, AddedToken token) {
  if (tokens.size() == kMaxAddedTokens) json.wrong(fmt::format("more than {} added tokens", kMaxAddedTokens));
  tokens.push_back(std::move(token));
}

std::vector<AddedToken> by_id(std::vector<AddedToken> tokens) {
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  return tokens;
}

}  // namespace

int32_t read_token_id(JsonScanner& json, std::string_view what) {
  const size_t at = json.position();
  return checked_id(json, at, what, json.integer(what));
}

AddedToken read_added_token(JsonScanner& json, std::optional<int32_t> id) {
  const size_t at = json.position();
  AddedToken token;
  std::optional<bool> normalized;
  json.object("at the start of an added token", [&](const std::string& key) {
    if (key == "id") {
      id = read_token_id(json, "the id of an added token");
    } else if (key == "content") {
      token.content = json.decode(json.string());
    } else if (key == "special") {
      token.special = json.boolean();
    } else if (key == "lstrip") {
      token.left_strip = json.boolean();
    } else if (key == "rstrip") {
      token.right_strip = json.boolean();
    } else if (key == "normalized") {
      normalized = json.boolean();
    } else if (key == "single_word") {
      if (json.boolean()) json.wrong_at(at, "added tokens with single_word are not supported");
    } else {
      json.skip();
    }
  });
  if (!id || token.content.empty()) json.wrong_at(at, "an added token must have an id and a content");
  token.id = *id;
  token.normalized = normalized.value_or(!token.special);
  return token;
}

std::vector<AddedToken> read_added_tokens_decoder(JsonScanner& json) {
  std::vector<AddedToken> out;
  json.object("at the start of added_tokens_decoder", [&](const std::string& key) {
    const int32_t id = id_of_key(json, key);
    add(json, out, read_added_token(json, id));
  });
  return by_id(std::move(out));
}

std::vector<AddedToken> parse_added_tokens(std::string_view text, const std::string& source,
                                           const std::set<std::string>& special) {
  const size_t invalid = find_invalid_utf8(text);
  require(invalid == std::string_view::npos, ErrorKind::data, "{}: not UTF-8 at byte {}", source, invalid);
  JsonScanner json(text, source, "added_tokens.json");
  std::vector<AddedToken> out;
  json.object("at the start", [&](const std::string& content) {
    if (content.empty()) json.wrong("an added token must have an id and a content");
    const bool named = special.contains(content);
    const int32_t id = read_token_id(json, "the id of an added token");
    add(json, out, {.id = id, .content = content, .special = named, .normalized = !named});
  });
  json.expect_end();
  return by_id(std::move(out));
}

std::vector<AddedToken> merge_added_tokens(
    const TokensBeside& beside, const TokenTable& vocabulary,
    const std::function<std::optional<int32_t>(const std::string&)>& find, std::vector<AddedToken>& added,
    int32_t& size) {
  std::map<std::string, size_t> of_content;
  std::map<int32_t, size_t> of_id;
  const auto keep = [&](size_t i) {
    of_content.emplace(added[i].content, i);
    of_id.emplace(added[i].id, i);
  };
  for (size_t i = 0; i < added.size(); ++i) keep(i);
  std::vector<AddedToken> changes;
  for (const AddedToken& token : beside.tokens) {
    const auto wrong = [&](const std::string& what) {
      fail(ErrorKind::data, "{}: the added token {} has the id {}, but {}", beside.source,
           quote_for_message(token.content), token.id, what);
    };
    const auto same = of_content.find(token.content);
    const std::optional<int32_t> known =
        same != of_content.end() ? std::optional(added[same->second].id) : find(token.content);
    if (known && *known != token.id) wrong(fmt::format("the tokenizer gives it {}", *known));
    if (same != of_content.end()) {
      AddedToken& own = added[same->second];
      if (!beside.overrides || own == token) continue;
      changes.push_back(own = token);
      continue;
    }
    if (const auto other = of_id.find(token.id); other != of_id.end())
      wrong(fmt::format("that is the id of {}", quote_for_message(added[other->second].content)));
    if (!known && vocabulary.has(token.id))
      wrong(fmt::format("that is the id of {}", quote_for_message(vocabulary[token.id])));
    if (!known && token.id != size)
      wrong(fmt::format("the next free id is {}, which transformers gives it", size));
    added.push_back(token);
    keep(added.size() - 1);
    size = std::max(size, token.id + 1);
    changes.push_back(token);
  }
  return changes;
}

}  // namespace modewise::io
